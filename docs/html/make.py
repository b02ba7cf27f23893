#!/usr/bin/env python3
"""make html: README, the pages of docs and the manual pages as a folder of HTML with a search, which opens from a disk.

    make.py MAN FOLDER VERSION
MAN is a folder of manual pages. Markdown is read by cmark-gfm, manual pages by mandoc. A link to a page, a heading or a
picture that is not there is an error.
"""

import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HOUSE = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/testing.md", "docs/performance.md"]
HEADING = re.compile(r"<h([1-6])([^>]*)>(.*?)</h\1>", re.S)

page_of = {}  # a file -> its page


class Page:
    def __init__(self, file, group):
        self.file, self.group = file, group
        name = os.path.splitext(os.path.basename(file))[0]
        self.name = "index.html" if file == "README.md" else name + ".html"
        self.anchors, self.sections = set(), []
        if group == "Commands":
            body = said("mandoc", "-T", "html", "-O", "fragment,man=%N.html", file)
            self.title = name
            body = re.sub(r'<table class="(head|foot)">.*?</table>', "", body, flags=re.S)
            body = "<h1>" + name.replace("lockstep-", "lockstep ") + "</h1>" + body.replace("<h1 class", "<h2 class").replace("</a></h1>", "</a></h2>")
        else:
            body = said("cmark-gfm", "-e", "table", "-e", "autolink", "--to", "html", file)
        self.body = HEADING.sub(self.named, body.replace("<!-- raw HTML omitted -->", ""))
        if group != "Commands":
            self.title = text_of(HEADING.search(self.body).group(3))
        self.read_sections()

    def named(self, match):
        """A heading with the anchor that forges give it."""
        level, more, inside = match.groups()
        anchor = re.search(r'id="([^"]*)"', more)
        if anchor:
            anchor = anchor.group(1)
        else:
            base = anchor = re.sub(r"[^\w\- ]", "", text_of(inside).lower()).replace(" ", "-")
            count = 0
            while anchor in self.anchors:
                count += 1
                anchor = f"{base}-{count}"
            more += f' id="{html.escape(anchor)}"'
        self.anchors.add(anchor)
        return f"<h{level}{more}>{inside}</h{level}>"

    def read_sections(self):
        """What the search finds: a row for each heading, with the text below it."""
        found = list(HEADING.finditer(self.body))
        for i, match in enumerate(found):
            end = found[i + 1].start() if i + 1 < len(found) else len(self.body)
            anchor = re.search(r'id="([^"]*)"', match.group(2))
            self.sections.append([self.name + ("#" + html.unescape(anchor.group(1)) if anchor and i else ""), self.title,
                                  text_of(match.group(3)), text_of(self.body[match.end():end])])


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def text_of(markup):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " " if "<td" in markup or "<p" in markup else "", markup)).split())


def linked(page, out, faults):
    """The body with links that lead within the folder. To files of the sources nothing leads: their name stays."""
    folder = os.path.dirname(page.file)

    def link(match):
        target, inside = html.unescape(match.group(1)), match.group(2)
        if re.match(r"[a-z]+:", target) or page.group == "Commands":
            if page.group == "Commands" and not target.startswith("#") and not os.path.exists(os.path.join(out, "..", "man", target[:-5] + ".1")):
                return inside
            return match.group(0)
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(folder, path)) if path else page.file
        if not os.path.exists(file):
            faults.append(f"{page.file}: {target}: there is no such file")
        if file not in page_of:
            return inside
        if anchor and anchor not in page_of[file].anchors:
            faults.append(f"{page.file}: {target}: there is no such heading")
        where = page_of[file].name if path else ""
        return f'<a href="{where}{"#" + anchor if anchor else ""}">{inside}</a>'

    def picture(match):
        file = os.path.normpath(os.path.join(folder, html.unescape(match.group(1))))
        if not os.path.exists(file):
            faults.append(f"{page.file}: the picture {file} is not there")
        else:
            shutil.copy(file, out)
        return f'<img src="{os.path.basename(file)}"'

    body = re.sub(r'<a href="([^"]*)"[^>]*>(.*?)</a>' if page.group != "Commands" else r'<a class="Xr" href="([^"]*)"[^>]*>(.*?)</a>',
                  link, page.body, flags=re.S)
    body = re.sub(r'<img src="([^"]*)"', picture, body)
    return body.replace("<table", '<div class="wide"><table').replace("</table>", "</table></div>")


def contents(pages, here):
    lines = []
    for group in dict.fromkeys(page.group for page in pages):
        lines.append(f'<p>{group}</p><ul aria-label="{group}">')
        for page in pages:
            if page.group == group:
                current = ' aria-current="page"' if page is here else ""
                lines.append(f'<li><a href="{page.name}"{current}>{html.escape(page.title, quote=False)}</a></li>')
        lines.append("</ul>")
    return "\n".join(lines)


def main():
    man, out, version = sys.argv[1:]
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    docs = sorted(set(glob.glob("docs/*.md")) - set(HOUSE))
    commands = sorted(glob.glob(os.path.join(man, "*.1")))
    pages = ([Page("README.md", "Begin")] + sorted((Page(file, "Manual") for file in docs), key=lambda page: page.title.lower()) +
             [Page(file, "Commands") for file in commands] + [Page(file, "How it is made") for file in HOUSE])
    page_of.update({page.file: page for page in pages})
    with open(os.path.join(HERE, "page.html"), encoding="utf-8") as file:
        form = file.read()
    faults = []
    for page in pages:
        filled = {"title": html.escape(page.title, quote=False), "version": version, "contents": contents(pages, page),
                  "body": linked(page, out, faults)}
        with open(os.path.join(out, page.name), "w", encoding="utf-8") as file:
            file.write(re.sub(r"\{\{(\w+)\}\}", lambda match: filled[match.group(1)], form))
    if faults:
        sys.exit("\n".join(faults))
    with open(os.path.join(out, "index.js"), "w", encoding="utf-8") as file:
        file.write("const INDEX = " + json.dumps([row for page in pages for row in page.sections], ensure_ascii=False) + ";\n")
    for name in ("manual.css", "search.js"):
        shutil.copy(os.path.join(HERE, name), out)
    print(f"{out}/index.html: {len(pages)} pages")


if __name__ == "__main__":
    main()
