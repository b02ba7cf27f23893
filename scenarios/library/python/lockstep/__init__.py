"""lockstep in Python: GPU clusters and distributed training, simulated.

    import lockstep
    answer = lockstep.run(model="gpt3-175b", node="dgx-a100", gpus=[512, 1024], tp=8, pp=16,
                          micro_batch=1, global_batch=1536)
    answer["points"][0]["step_time_s"]["p50"]
    answer.columns("points")            # {"gpus": [512, 1024], "step_time_s.p50": [...], ...}: what pandas takes

Every command that answers in JSON is a function: run, plan, explain, check, memory, collective, goodput, cost, power,
queue, flops, params, hw, model, job, constants, packets, step. Options are keywords, with _ for -; a list varies the
option; words that belong to no option come first: lockstep.hw("show", "H100"). What cannot be answered raises lockstep.Problem.
"""

import html
import json
import os
import shutil
import subprocess
import tempfile

__all__ = ["Answer", "Problem", "ask", "program", "schema"]

# As `lockstep schema ask` has them.
COMMANDS = ("run", "plan", "explain", "check", "memory", "collective", "goodput", "cost", "power", "queue", "flops",
            "params", "hw", "model", "job", "constants", "packets", "step")


class Problem(Exception):
    """What is wrong, where, and what to do; .status is the program's exit status (2 usage, 4 bad input)."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


def program():
    """The path of the program: in this package, else that of PATH."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "lockstep")
    found = own if os.access(own, os.X_OK) else shutil.which("lockstep")
    if not found:
        raise Problem("the program lockstep is not found: neither in this package nor in PATH", 1)
    return found


def _start(words, text, timeout):
    done = subprocess.run([program(), *words], input=text, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode not in (0, 3):
        raise Problem(done.stderr.strip(), done.returncode)
    return done.stdout


def ask(question, *typed, timeout=None):
    """The answer to a question (a dict as `lockstep schema ask` describes it). `typed`: words that only who asks may
    say, such as "--time-limit=10s" or "--allow-read=DIR". `timeout`: seconds, then subprocess.TimeoutExpired.
    A script with several studies has a list of answers."""
    said = json.loads(_start(["ask", "-", *typed], json.dumps(question), timeout))
    return [Answer(one, question) for one in said] if isinstance(said, list) else Answer(said, question)


def schema(kind="ask"):
    """The JSON Schema of questions ("ask") or of a kind of answers ("run", "plan", …)."""
    return json.loads(_start(["schema", kind], None, None))


def _flat(row, before=""):
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        elif not isinstance(value, list):
            yield before + key, value


class Answer(dict):
    """An answer: a dict, with its tables as columns and, in a notebook, as the program's page."""

    def __init__(self, answer, question):
        super().__init__(answer)
        self.question = question

    def tables(self):
        """Names of the tables in it."""
        return [key for key, value in self.items() if isinstance(value, list) and value and isinstance(value[0], dict)]

    def columns(self, table=None):
        """A table (the first, unless said) as {column: values}, which pandas.DataFrame and polars.DataFrame take."""
        name = table or next(iter(self.tables()), None)
        if name not in self.tables():
            raise KeyError(f"no table {name!r}; there are: {', '.join(self.tables()) or 'none'}")
        rows = [dict(_flat(row)) for row in self[name]]
        names = list(dict.fromkeys(key for row in rows for key in row))
        return {key: [row.get(key) for row in rows] for key in names}

    def page(self, timeout=None):
        """The answer as one HTML page that needs nothing else (run, plan, goodput and queue)."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            words = [word for word in self["command"][1:] if word != "--json"]
            _start(["report", *words, "-q", "-o", path], None, timeout)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def _repr_html_(self):
        try:
            return ('<iframe style="width:100%;height:640px;border:0" sandbox="allow-scripts" srcdoc="'
                    + html.escape(self.page(), quote=True) + '"></iframe>')
        except Problem:  # report has no page of such answers
            pass
        if not self.tables():
            rows = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(str(value))}</td></tr>"
                           for key, value in _flat(self))
            return f"<table>{rows}</table>"
        columns = self.columns()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>"
                       for row in zip(*columns.values()))
        return f"<table><tr>{head}</tr>{body}</table>"


def _command(name):
    def put(*words, **options):
        timeout = options.pop("timeout", None)
        question = {"ask": name, **options}
        if words:
            question["words"] = list(words)
        return ask(question, timeout=timeout)

    put.__name__ = put.__qualname__ = name
    put.__doc__ = f"lockstep {name}: options as keywords, words first. An Answer, or Problem is raised."
    return put


for _name in COMMANDS:
    globals()[_name] = _command(_name)
__all__ += COMMANDS
