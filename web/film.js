// A rank program event by event, of what lockstep step says: chunks that go from rank to rank, or who waits for whom.

let film = null, frameAt = 0; // frameAt: of film.frames

function showFilm(said) {
    film = said && said.frames && said.frames.length && said.rows.length > 1 ? said : null; // one alone waits for nobody
    $("film").hidden = !film;
    if (!film) return;
    film.holds = film.moves ? film.moves.length > 0 : false;
    if (film.moves) film.moves.sort((a, b) => a.came_s - b.came_s);
    $("film").querySelector("figcaption").textContent = film.holds ? "The collective, chunk by chunk" : "Who waits for whom";
    $("film-key").textContent = film.holds ? "A row is a rank, a column a chunk. The figure says of how many ranks the parts are in it; green is as it is to be; what is framed is under way."
        : "An arrow leads from who waits to who is waited for" + (film.ran ? "." : "; a closed circle never goes on.");
    $("film").querySelector("canvas").style.height = film.holds ? Math.min(34, 2.5 + film.rows.length * (film.rows.length > 24 ? 0.55 : 1.6)) + "rem" : "19rem";
    $("film-event").max = film.frames.length - 1;
    let at = Math.floor((film.frames.length - 1) / (film.holds || film.ran ? 3 : 1)); // where something is under way, or waits for good
    while (film.holds && at + 1 < film.frames.length && underWay(film.frames[at].time_s).length * 2 < film.rows.length) at++;
    $("film-event").value = at;
    showFrame();
}

// Parts that every rank has of every chunk at a time: [row][chunk]. At first: its own, of what it has at all.
function partsAt(now) {
    const parts = film.states.filter((state) => state.frame === 1).map((state) => (state.holds || "").split(" ").map(Number));
    for (const move of film.moves) {
        if (move.came_s > now) break;
        parts[move.to][move.chunk] = move.parts;
    }
    return parts;
}

const underWay = (now) => film.moves.filter((move) => move.left_s <= now && now < move.came_s);

function paintChunks(pen, ink, width, height, now) {
    const rows = film.rows.length, left = width < 500 ? 52 : 70, top = 20, cell = (width - left) / film.chunks, tall = (height - top) / rows;
    const parts = partsAt(now), promised = film.rows.map(({promised}) => promised.split(" ").map(Number)), wide = cell > 13 && tall > 13;
    for (let row = 0; row < rows; row++) {
        pen.fillStyle = ink("quiet");
        pen.textAlign = "left";
        if (tall > 11 || row % Math.ceil(12 / tall) === 0) pen.fillText(film.rows[row].name, 0, top + row * tall + tall / 2 + 4, left - 6);
        for (let chunk = 0; chunk < film.chunks; chunk++) {
            const has = parts[row][chunk], whole = has > 0 && has === promised[row][chunk];
            const dark = whole || has > rows / 2;
            pen.fillStyle = has === 0 ? ink("idle") : whole ? "#2b7a4f" : dark ? "#2f5c9e" : has > rows / 4 ? "#5f96d6" : "#a9cdee";
            pen.fillRect(left + chunk * cell + 0.5, top + row * tall + 0.5, Math.max(cell - 1, 0.5), Math.max(tall - 1, 0.5));
            if (!wide || has === 0) continue;
            pen.fillStyle = dark ? "#ffffff" : "#10243d";
            pen.textAlign = "center";
            pen.fillText(String(has), left + (chunk + 0.5) * cell, top + row * tall + tall / 2 + 4, cell - 2);
        }
    }
    pen.fillStyle = ink("quiet");
    pen.textAlign = "center";
    for (let chunk = 0; chunk < film.chunks; chunk += Math.ceil(18 / cell)) pen.fillText(String(chunk), left + (chunk + 0.5) * cell, 12);
    pen.strokeStyle = pen.fillStyle = ink("worse");
    for (const move of underWay(now)) {
        const x = left + move.chunk * cell, inset = Math.min(2, tall / 6);
        pen.lineWidth = wide ? 2 : 1;
        pen.strokeRect(x + inset, top + move.from * tall + inset, Math.max(cell - 2 * inset, 1), Math.max(tall - 2 * inset, 1));
        if (!wide) continue;
        const y = top + (move.from + 0.5) * tall, to = top + (move.to + 0.5) * tall, way = Math.sign(to - y);
        pen.beginPath();
        pen.moveTo(x + cell * 0.82, y);
        pen.lineTo(x + cell * 0.82, to - way * 4);
        pen.stroke();
        arrowHead(pen, x + cell * 0.82, to, 0, way);
    }
}

function arrowHead(pen, x, y, dx, dy) {
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x - 8 * dx - 4 * dy, y - 8 * dy + 4 * dx);
    pen.lineTo(x - 8 * dx + 4 * dy, y - 8 * dy - 4 * dx);
    pen.fill();
}

const statesAt = () => film.states.filter((state) => state.frame === film.frames[frameAt].frame);

function paintWaits(pen, ink, width, height) {
    const rows = film.rows.length, radius = height / 2 - 34, dot = Math.min(17, 2.4 * radius / rows);
    const at = (row) => [width / 2 + radius * Math.sin(2 * Math.PI * row / rows), height / 2 - radius * Math.cos(2 * Math.PI * row / rows)];
    const closed = new Set((film.frames[frameAt].circle || "").split(" → "));
    pen.lineWidth = 2;
    pen.textAlign = "center";
    for (const state of statesAt())
        for (const other of state.waits_for ? state.waits_for.split(" ").map(Number) : []) {
            const [x, y] = at(state.row), [to_x, to_y] = at(other), far = Math.hypot(to_x - x, to_y - y), dx = (to_x - x) / far, dy = (to_y - y) / far;
            pen.strokeStyle = pen.fillStyle = ink(closed.has(film.rows[state.row].name) ? "worse" : "quiet");
            pen.beginPath();
            pen.moveTo(x + dx * (dot + 2), y + dy * (dot + 2));
            pen.lineTo(to_x - dx * (dot + 8), to_y - dy * (dot + 8));
            pen.stroke();
            arrowHead(pen, to_x - dx * (dot + 3), to_y - dy * (dot + 3), dx, dy);
        }
    for (const state of statesAt()) {
        const [x, y] = at(state.row);
        pen.beginPath();
        pen.arc(x, y, dot, 0, 2 * Math.PI);
        pen.fillStyle = state.waits_for ? closed.has(film.rows[state.row].name) ? "#b3341a" : "#6f7b8a" : "#2f5c9e";
        pen.fill();
        pen.fillStyle = "#ffffff";
        if (dot > 8) pen.fillText(String(state.row), x, y + 4);
    }
}

function paintFilm() {
    if (!film) return;
    const canvas = $("film").querySelector("canvas"), ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue("--" + name).trim();
    pen.scale(ratio, ratio);
    pen.font = "12px " + getComputedStyle(document.body).fontFamily;
    if (film.holds) paintChunks(pen, ink, width, height, film.frames[frameAt].time_s);
    else paintWaits(pen, ink, width, height);
}

const SAID_MOST = 8; // rows

function showFrame() {
    frameAt = Number($("film-event").value);
    const frame = film.frames[frameAt], states = statesAt(), list = document.createElement("ul");
    for (const state of states.slice(0, SAID_MOST))
        list.append(make("li", {}, make("b", {}, film.rows[state.row].name), " ", state.does));
    if (states.length > SAID_MOST) list.append(make("li", {}, "and " + (states.length - SAID_MOST) + " more"));
    $("film-now").replaceChildren("Event " + (frameAt + 1) + " of " + film.frames.length + ", at " + seconds(frame.time_s) + " of " + seconds(film.time_s) + ":", list);
    if (frame.circle) $("film-now").append(make("p", {className: "worse"}, "The circle is closed: " + frame.circle));
    $("film-event").setAttribute("aria-valuetext", "event " + (frameAt + 1) + ", " + seconds(frame.time_s));
    paintFilm();
}

function stepFilm(to) {
    $("film-event").value = to;
    showFrame();
}

function listenToFilm() {
    $("film-event").addEventListener("input", showFrame);
    $("film-back").addEventListener("click", () => stepFilm(frameAt - 1));
    $("film-forth").addEventListener("click", () => stepFilm(frameAt + 1));
    $("film").querySelector("canvas").addEventListener("keydown", (event) => {
        const to = {ArrowLeft: frameAt - 1, ArrowRight: frameAt + 1, " ": frameAt + 1, Home: 0, End: film.frames.length - 1}[event.key];
        if (to !== undefined) event.preventDefault(), stepFilm(to);
    });
}
