// What a report must hold in a browser. tests/report_check adds this to a copy of the page; what it finds it tells
// the page around it, a line each, the last one "N checks, M failed".
(function () {
  var lines = [], checks = 0;
  function check(holds, what) {
    checks++;
    if (!holds) lines.push("failed: " + what);
  }
  function all(selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); }
  function shown(node) { var box = node.getBoundingClientRect(); return box.width > 0 && box.height > 0; }
  function textOf(node) { return node.textContent.trim().slice(0, 60); }

  // ---- Every chart is seen, once, with nothing cut and no letters on letters.
  function drawing(figure) { return all("svg.wide, svg.narrow", figure).filter(shown); }
  function overlap(a, b) {
    return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  }
  all("figure").forEach(function (figure) {
    var title = textOf(figure.querySelector("figcaption")), seen = drawing(figure);
    check(seen.length === 1, title + ": " + seen.length + " drawings are seen");
    if (seen.length !== 1) return;
    var box = seen[0].getBoundingClientRect();
    check(box.width > 200 && box.height > 60, title + ": it is " + box.width + " by " + box.height);
    check(all("rect, path, circle", seen[0]).some(shown), title + ": nothing is drawn");
    check(seen[0].getAttribute("aria-label").length > 10, title + ": no words for it");
    var behind = figure.nextElementSibling;
    check(behind && behind.matches("details") && behind.querySelector("table tbody tr"), title + ": no numbers behind it");
    var texts = all("text:not(.in)", seen[0]).filter(shown).map(function (text) {
      return { node: text, box: text.getBoundingClientRect() };
    });
    texts.forEach(function (text, i) {
      check(text.box.left >= box.left - 1 && text.box.right <= box.right + 1 && text.box.top >= box.top - 1 && text.box.bottom <= box.bottom + 1,
        title + ": \"" + textOf(text.node) + "\" is cut");
      texts.slice(i + 1).forEach(function (other) {
        check(!overlap(text.box, other.box), title + ": \"" + textOf(text.node) + "\" lies on \"" + textOf(other.node) + "\"");
      });
    });
  });

  // No line runs through letters: points along every line, in the drawing's own units, against the boxes of its texts.
  function pointsOf(path) {
    var points = [], length = path.getTotalLength(), step = Math.max(2, length / 400);
    for (var at = 0; at <= length; at += step) points.push(path.getPointAtLength(at));
    return points;
  }
  all("figure").forEach(function (figure) {
    var title = textOf(figure.querySelector("figcaption"));
    drawing(figure).forEach(function (svg) {
      var paths = all(".limit, path.line", svg).filter(function (path) { return path.getTotalLength() > 0; });
      if (paths.length === 0 || paths.length > 60) return;
      var texts = all("text:not(.in)", svg).map(function (text) { return { node: text, box: text.getBBox() }; });
      paths.forEach(function (path) {
        pointsOf(path).forEach(function (point) {
          texts = texts.filter(function (text) {
            var box = text.box, struck = point.x > box.x + 1 && point.x < box.x + box.width - 1 &&
              point.y > box.y + 4 && point.y < box.y + box.height - 4;
            check(!struck, title + ": a line (" + path.getAttribute("class") + ") runs through \"" + textOf(text.node) + "\"");
            return !struck;
          });
        });
      });
    });
  });

  // ---- Contrast (WCAG 2, AA): 4.5 to 1 for letters.
  function channels(color) { return (color.match(/[\d.]+/g) || []).map(Number); }
  function luminance(rgb) {
    return rgb.slice(0, 3).map(function (value) {
      value /= 255;
      return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
    }).reduce(function (sum, value, i) { return sum + value * [0.2126, 0.7152, 0.0722][i]; }, 0);
  }
  function contrast(a, b) {
    var one = luminance(a) + 0.05, other = luminance(b) + 0.05;
    return Math.max(one, other) / Math.min(one, other);
  }
  function paperUnder(node) {
    for (; node; node = node.parentElement) {
      var color = channels(getComputedStyle(node).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  }
  var least = 21;
  function checkContrast(ink, paper, what) {
    var value = contrast(channels(ink), paper);
    least = Math.min(least, value);
    check(value >= 4.5, "contrast " + value.toFixed(2) + ": " + what);
  }
  all("h1, h2, p, a, dt, dd, dd span, th, td, caption, summary, figcaption, li, button, code").forEach(function (node) {
    if (shown(node) && textOf(node)) checkContrast(getComputedStyle(node).color, paperUnder(node), textOf(node));
  });
  all("svg text:not(.in)").filter(shown).forEach(function (text) {
    checkContrast(getComputedStyle(text).fill, paperUnder(text.closest("figure")), textOf(text));
  });
  all("svg text.in").filter(shown).slice(0, 300).forEach(function (text) {
    var rects = all("rect", text.parentNode), box = text.getBoundingClientRect(), middle = (box.left + box.right) / 2;
    var under = rects.find(function (rect) {
      var other = rect.getBoundingClientRect();
      return other.left <= middle && other.right >= middle && other.top <= box.top + 8 && other.bottom >= box.bottom - 8;
    });
    if (under) checkContrast(getComputedStyle(text).fill, channels(getComputedStyle(under).fill), "in a bar: " + textOf(text));
  });

  // What is drawn is seen, by what fills it or by its edge (WCAG 2.1, 1.4.11: 3 to 1); of each colour one of a kind.
  var faintest = 21, looked = {};
  function checkSeen(part) {
    var style = getComputedStyle(part), filled = part.tagName === "rect" || part.tagName === "circle" || part.matches(".bin");
    var kind = [part.tagName, part.getAttribute("class"), part.closest(".dense") ? "dense" : ""].join(" ");
    if (looked[kind] || part.closest("[fill-opacity]")) return; // a heat map's cells have figures on them
    looked[kind] = true;
    var paper = paperUnder(part.closest("figure")), values = [0];
    if (filled && style.fill !== "none") values.push(contrast(channels(style.fill), paper));
    if (style.stroke !== "none") values.push(contrast(channels(style.stroke), paper));
    var value = Math.max.apply(null, values);
    faintest = Math.min(faintest, value);
    check(value >= 3, "contrast " + value.toFixed(2) + " of a drawn " + kind);
  }
  all("figure rect, figure circle, figure path.line, figure .limit, figure .rule, figure .bin, figure .lead").filter(shown).forEach(checkSeen);

  // ---- Tables that are wider than their box say so in words, and their first column stays.
  var wide = 0;
  function checkTable(region) {
    var hint = region.previousElementSibling, overflows = region.scrollWidth > region.clientWidth + 1;
    var caption = textOf(region.querySelector("caption")), cell = region.querySelector("tbody th");
    var hinted = Boolean(hint && hint.classList.contains("more") && shown(hint));
    wide += overflows;
    check(hinted === overflows, caption + (overflows ? ": it is cut without a word" : ": it says that it is cut, and is not"));
    check(!overflows || getComputedStyle(cell).position === "sticky", caption + ": its first column goes out of sight");
    check(!overflows || cell.getBoundingClientRect().width < 0.6 * region.clientWidth, caption + ": its first column leaves no room");
    check(caption.length > 2, "a table without a caption");
    var words = region.querySelector("caption span").getBoundingClientRect();
    check(words.right <= document.documentElement.clientWidth + 1, caption + ": its caption is cut");
  }
  all(".scroll").filter(shown).forEach(checkTable);

  // ---- Structure, for keyboards and screen readers.
  check(all("h1").length === 1, "one first heading");
  ["header", "nav", "main", "footer"].forEach(function (name) { check(all(name).length === 1, "one " + name); });
  check(document.documentElement.lang === "en" && document.title.length > 0, "language and title");
  var ids = all("[id]").map(function (node) { return node.id; });
  check(new Set(ids).size === ids.length, "an id stands twice");
  all("[aria-labelledby]").forEach(function (node) {
    check(document.getElementById(node.getAttribute("aria-labelledby")), "a label that is not there");
  });
  all("nav a").forEach(function (link) { check(document.querySelector(link.getAttribute("href")), "a link to nowhere"); });
  all("thead th").forEach(function (cell) { check(cell.scope === "col" && textOf(cell), "a column without a name"); });
  all("button").forEach(function (button) {
    check(textOf(button) || button.getAttribute("aria-label"), "a button without a name");
    check(button.tabIndex === 0, "a button that no key reaches");
  });
  check(document.documentElement.scrollWidth <= window.innerWidth + 1,
    "the page is " + document.documentElement.scrollWidth + " wide in a window of " + window.innerWidth);

  // ---- What buttons do.
  var toggles = all(".legend button");
  toggles.forEach(function (toggle) {
    var series = toggle.closest("li").getAttribute("data-s"), figure = toggle.closest("figure");
    var parts = all("svg [data-s='" + series + "']", figure);
    if (parts.length === 0) return;
    toggle.click();
    check(parts.every(function (part) { return !shown(part); }), textOf(toggle) + " is hidden by its legend");
    check(toggle.getAttribute("aria-pressed") === "false", textOf(toggle) + " says so");
    toggle.click();
    check(parts.some(function (part) { return getComputedStyle(part).display !== "none"; }), textOf(toggle) + " comes back");
  });
  var copied = null;
  Object.defineProperty(navigator, "clipboard", { value: { writeText: function (text) { copied = text; return Promise.resolve(); } } });
  Object.defineProperty(window, "isSecureContext", { value: true });
  all("[data-copy]").forEach(function (button) {
    var table = button.previousElementSibling.querySelector("table");
    copied = null;
    button.click();
    var rows = (copied || "").trim().split("\n");
    check(rows.length === table.rows.length, "CSV of " + textOf(table.caption) + " has " + rows.length + " rows of " + table.rows.length);
    var number = table.querySelector("[data-v]");
    check(!number || copied.indexOf(number.getAttribute("data-v")) >= 0, "CSV of " + textOf(table.caption) + " has exact values");
  });
  // The pages that are looked at have data-parallel jobs: what they exchange is in the timeline, under the passes.
  all("figure.zooms").forEach(function (figure) {
    var entry = all(".legend li", figure).find(function (li) { return textOf(li) === "data parallel"; });
    check(entry && all("[data-s='" + entry.getAttribute("data-s") + "']", drawing(figure)[0]).some(shown),
      "a timeline without its data-parallel transfers");
    check(all("text", drawing(figure)[0]).some(function (text) { return /transfers$/.test(text.textContent); }),
      "a timeline without rows of transfers");
    var rect = drawing(figure)[0].querySelector(".dense rect"), group = figure.querySelector("[role=group]");
    function width() { return +rect.getAttribute("width"); }
    function press(key) { group.dispatchEvent(new KeyboardEvent("keydown", { key: key, bubbles: true })); }
    var before = width(), at = +rect.getAttribute("x");
    all("button", group)[3].click();
    press("0");
    press("+"); press("ArrowLeft"); press("ArrowLeft"); press("ArrowLeft"); press("ArrowLeft");
    check(Math.abs(width() - 2 * before) < 0.9, "+ doubles a bar: " + before + ", " + width());
    press("-");
    check(Math.abs(width() - before) < 0.1, "- halves it");
    press("+"); press("ArrowRight"); press("0");
    check(Math.abs(width() - before) < 0.1 && Math.abs(+rect.getAttribute("x") - at) < 0.1, "0 shows the whole");
    check(document.getElementById("said").textContent.indexOf("Shown") === 0, "what is shown is said");
    var texts = all(".ticks .tick", drawing(figure)[0]);
    check(texts.length >= 2, "a timeline has ticks after zooming");
  });

  // ---- Printing opens short tables, and closes them again.
  var closed = all("details:not([open])"), short = closed.filter(function (details) { return !details.classList.contains("long"); });
  window.dispatchEvent(new Event("beforeprint"));
  check(short.every(function (details) { return details.open; }), "a short table is not printed");
  closed.forEach(function (details) {
    var rows = all("tbody tr", details).length;
    check(details.open === (rows <= 12), textOf(details.querySelector("summary")) + ": " + rows + " rows, printed: " + details.open);
  });
  window.dispatchEvent(new Event("afterprint"));
  check(closed.every(function (details) { return !details.open; }), "tables stay open after printing");

  lines = lines.slice(0, 60);
  lines.push("window " + window.innerWidth + ", " + (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light") +
    ", least contrast " + least.toFixed(2) +
    " of letters, " + faintest.toFixed(2) + " of what is drawn, " + toggles.length + " toggles, " + wide + " wide tables, " + all("figure").length + " charts");
  lines.push(checks + " checks, " + lines.filter(function (line) { return line.indexOf("failed:") === 0; }).length + " failed");
  parent.postMessage(lines.join("\n"), "*");
})();
