
"use strict";
// What a page can do beyond being read: hide parts of a chart, copy numbers, look closer at a timeline.
// Without scripts nothing is missing but these buttons.
(function () {
  var said = document.getElementById("said");
  function say(text) { said.textContent = text; }

  function button(label, name, act) {
    var made = document.createElement("button");
    made.type = "button";
    made.className = "tool";
    made.textContent = label;
    if (name) made.setAttribute("aria-label", name);
    made.addEventListener("click", act);
    return made;
  }

  // ---- Legends: each entry hides and shows what bears its number.
  function toggling(entry) {
    var figure = entry.closest("figure"), series = entry.getAttribute("data-s");
    var toggle = document.createElement("button");
    toggle.type = "button";
    toggle.setAttribute("aria-pressed", "true");
    while (entry.firstChild) toggle.appendChild(entry.firstChild);
    toggle.addEventListener("click", function () {
      var shown = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", String(shown));
      figure.querySelectorAll("svg [data-s='" + series + "']").forEach(function (part) {
        part.classList.toggle("gone", !shown);
      });
    });
    entry.appendChild(toggle);
  }
  document.querySelectorAll(".legend li").forEach(toggling);

  // ---- CSV (RFC 4180) of a table: exact values where a cell has them. Text that a spreadsheet would take for a
  // formula gets an apostrophe before it.
  function cellText(cell) {
    var text = cell.getAttribute("data-v");
    if (text !== null) return text;
    text = cell.textContent;
    if (/^[=+\-@\t]/.test(text) && text.length > 1) text = "'" + text;
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  function csvOf(table) {
    return Array.prototype.map.call(table.rows, function (row) {
      return Array.prototype.map.call(row.cells, cellText).join(",");
    }).join("\n") + "\n";
  }
  function copyByHand(text) {
    var area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    document.body.appendChild(area);
    area.select();
    var done = document.execCommand("copy");
    area.remove();
    return done;
  }
  function copy(text, told) {
    function byHand() { told(copyByHand(text)); }
    if (navigator.clipboard && window.isSecureContext)
      navigator.clipboard.writeText(text).then(function () { told(true); }, byHand);
    else
      byHand();
  }
  document.querySelectorAll(".scroll").forEach(function (region) {
    var made = button("Copy CSV", null, function () {
      copy(csvOf(region.querySelector("table")), function (done) {
        made.textContent = done ? "Copied" : "Not copied";
        say(done ? "The table is on the clipboard as CSV." : "The browser did not let the table be copied.");
        window.setTimeout(function () { made.textContent = "Copy CSV"; }, 2000);
      });
    });
    made.setAttribute("data-copy", "");
    region.parentNode.insertBefore(made, region.nextSibling);
  });

  // ---- Tables that are wider than their box say so, and keep their first column in sight.
  function watchWidth(region) {
    var hint = region.previousElementSibling;
    if (!hint || !hint.classList.contains("more")) hint = null;
    function look() {
      var wide = region.scrollWidth > region.clientWidth + 1;
      region.classList.toggle("overflows", wide);
      if (hint) hint.classList.toggle("needed", wide);
      if (hint) hint.classList.toggle("idle", !wide);
    }
    look();
    new ResizeObserver(look).observe(region);
  }
  document.querySelectorAll(".scroll").forEach(watchWidth);

  // ---- Printing: short tables are opened for it.
  var opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.prototype.slice.call(document.querySelectorAll("details:not([open]):not(.long)"));
    opened.forEach(function (details) { details.open = true; });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (details) { details.open = false; });
    opened = [];
  });

  // ---- Timelines: a window on the bars that can be made smaller and moved.
  var SVG = "http://www.w3.org/2000/svg";
  function niceStep(span, most) {
    var power = Math.pow(10, Math.floor(Math.log10(span / most)));
    return [1, 2, 5, 10].map(function (n) { return n * power; }).find(function (step) { return span / step <= most; });
  }
  function Timeline(svg) {
    var bars = svg.querySelector(".dense"), ticks = svg.querySelector(".ticks");
    var left = +bars.getAttribute("data-left"), width = +bars.getAttribute("data-width"), end = +bars.getAttribute("data-to");
    var gap = 0.8; // behind bars that are wider than 3
    var axis = ticks.querySelector(".axis"), rule = ticks.querySelector("path:last-of-type");
    var y = +axis.getAttribute("y") - 20, from = 0, to = end;
    function time(x) { return (x - left) / width * end; }
    var rects = Array.prototype.map.call(bars.querySelectorAll("rect"), function (rect) {
      var x = +rect.getAttribute("x"), wide = +rect.getAttribute("width");
      return { node: rect, from: time(x), to: time(x + (wide > 3 - gap ? wide + gap : wide)) };
    });
    var bins = bars.querySelectorAll(".bin");
    var labels = Array.prototype.map.call(bars.querySelectorAll("text"), function (text) {
      return { node: text, at: time(+text.getAttribute("x")) };
    });
    function place(t) { return left + (t - from) / (to - from) * width; }
    function drawTicks() {
      ticks.querySelectorAll(".tick, path").forEach(function (node) { node.remove(); });
      ticks.insertBefore(rule, axis);
      var step = niceStep(to - from, Math.max(2, width / 80)), digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      for (var n = Math.ceil(from / step - 1e-9); n * step <= to + 1e-9 * (to - from); n++) {
        var text = document.createElementNS(SVG, "text");
        text.setAttribute("class", "tick m");
        text.setAttribute("x", place(n * step).toFixed(1));
        text.setAttribute("y", y);
        text.textContent = (n * step).toFixed(Math.min(digits, 12));
        ticks.appendChild(text);
      }
    }
    function draw() {
      rects.forEach(function (bar) {
        var x = place(bar.from), wide = place(bar.to) - x;
        var hidden = x > left + width || x + wide < left;
        bar.node.setAttribute("x", hidden ? left - 9 : x.toFixed(2));
        bar.node.setAttribute("width", hidden ? 0 : (wide > 3 ? wide - gap : wide).toFixed(2));
      });
      var times = end / (to - from), moved = left - times * (left + from / end * width);
      bins.forEach(function (path) { path.setAttribute("transform", "matrix(" + times + " 0 0 1 " + moved + " 0)"); });
      labels.forEach(function (label) { label.node.setAttribute("x", place(label.at).toFixed(2)); });
      drawTicks();
    }
    this.look = function (newFrom, newTo) {
      var span = Math.min(end, Math.max(end / 5000, newTo - newFrom));
      from = Math.min(Math.max(0, newFrom), end - span);
      to = from + span;
      draw();
    };
    this.zoom = function (factor, at) {
      var middle = at === undefined ? (from + to) / 2 : at;
      this.look(middle - (middle - from) * factor, middle + (to - middle) * factor);
    };
    this.move = function (share) { this.look(from + (to - from) * share, to + (to - from) * share); };
    this.all = function () { this.look(0, end); };
    this.text = function () { return from.toPrecision(4) + " to " + to.toPrecision(4); };
    this.timeAt = function (clientX) {
      var box = svg.getBoundingClientRect(), x = (clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      return from + (x - left) / width * (to - from);
    };
    this.span = function () { return to - from; };
    this.pixels = function () { return width * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; };
  }
  function dragging(svg, line) {
    var last = null;
    svg.addEventListener("pointerdown", function (event) { last = event.clientX; });
    svg.addEventListener("pointermove", function (event) {
      if (last === null || !(event.buttons & 1)) return;
      line.move((last - event.clientX) / line.pixels());
      last = event.clientX;
    });
    window.addEventListener("pointerup", function () { last = null; });
    svg.addEventListener("wheel", function (event) {
      if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls by the wheel alone
      event.preventDefault();
      line.zoom((event.deltaY || event.deltaX) < 0 ? 0.8 : 1.25, line.timeAt(event.clientX));
    }, { passive: false });
  }
  document.querySelectorAll("figure.zooms").forEach(function (figure) {
    var lines = [];
    figure.querySelectorAll("svg.wide, svg.narrow").forEach(function (svg) {
      if (!svg.querySelector(".dense rect")) return;
      var line = new Timeline(svg);
      lines.push(line);
      dragging(svg, line);
      svg.classList.add("ready");
    });
    if (lines.length === 0) return;
    function all(act) {
      return function () {
        lines.forEach(act);
        say("Shown: " + lines[0].text());
      };
    }
    var acts = {
      "+": all(function (line) { line.zoom(0.5); }), "-": all(function (line) { line.zoom(2); }),
      "ArrowLeft": all(function (line) { line.move(-0.25); }), "ArrowRight": all(function (line) { line.move(0.25); }),
      "0": all(function (line) { line.all(); })
    };
    var tools = document.createElement("div");
    tools.setAttribute("role", "group");
    tools.setAttribute("aria-label", "Timeline: keys + and -, arrows, 0");
    tools.append(button("+", "Zoom in", acts["+"]), button("−", "Zoom out", acts["-"]),
      button("←", "Earlier", acts.ArrowLeft), button("→", "Later", acts.ArrowRight), button("All", "The whole step", acts["0"]));
    figure.insertBefore(tools, figure.querySelector("svg.wide"));
    tools.addEventListener("keydown", function (event) {
      var act = acts[event.key === "=" ? "+" : event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  });

})();
