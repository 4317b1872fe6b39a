"""RS4xx: what each rule finds in one NPU file, and the near-misses that it leaves alone."""

from __future__ import annotations

import subprocess
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from check_samples import AR, EMPTY_AR, dedent, found, job, symbols

from runner_sync.errors import InputError
from runner_sync.verify import check
from runner_sync.verify.codes import Codes

RULER = "# " + "-" * 30 + " Omni-new " + "-" * 30
BARE = "# " + "-" * (len(RULER) - 2)


def method(body: str, *, signature: str = "self, x") -> str:
    """A runner class with one method of that body."""
    lines = "\n".join(f"        {line}" if line else "" for line in dedent(body).rstrip().split("\n"))
    return f"class NPUARModelRunner:\n    def execute_model({signature}):\n{lines}\n"


NOOPS = [
    pytest.param("RS401", method(f"{RULER}\na = x\n{RULER}\nreturn a"), id="a block that closes"),
    pytest.param("RS401", method(f'doc = """\n{RULER}\n"""'), id="a ruler inside a string"),
    pytest.param("RS401", method(f'doc = b"""\n{RULER}\n"""'), id="a ruler inside bytes"),
    pytest.param(
        "RS401", method(f'"""A.\n{RULER}\n"""\n{RULER}\na = x\n{RULER}\nreturn a'), id="one quoted, two drawn"
    ),
    pytest.param("RS401", method(f'a = ("b"\n{RULER}\n"c"\n{RULER}\n)\nreturn a'), id="between parts of a string"),
    pytest.param("RS401", method("# ----------------\na = x\n# ----------------"), id="rulers without a label"),
    pytest.param("RS401", method("a = x  # Omni-new"), id="a trailing marker"),
    pytest.param("RS402", method('name = "torch.cuda.Stream"'), id="the words in a string"),
    pytest.param("RS402", method("# torch.cuda.synchronize()\nreturn x"), id="the words in a comment"),
    pytest.param("RS402", method("return torch.npu.synchronize()"), id="the NPU's call"),
    pytest.param("RS402", method("return self.torch.cuda"), id="an attribute that is called torch"),
    *(
        pytest.param("RS402", method(f"return {code}"), id=code)
        for code in (
            'x.to("npu")',
            'x.to("cpu")',
            "x.to(self.device)",
            'torch.device("npu:0")',
            'x(device="cudagraph")',
            'x(backend="cuda")',
            'x.device.type == "cuda"',
            "x.cuda",
            'x(device="cuda" if torch.cuda.is_available() else "cpu")',
        )
    ),
    pytest.param(
        "RS402", method("if torch.cuda.is_available():\n    torch.cuda.synchronize()"), id="a branch for CUDA only"
    ),
    pytest.param("RS403", "from vllm.forward_context import BatchDescriptor\n", id="another name of the module"),
    pytest.param("RS403", "from vllm.compilation.cuda_graph import CUDAGraphStat\n", id="a name that only begins so"),
    pytest.param(
        "RS403",
        "if TYPE_CHECKING:\n    from vllm.compilation.cuda_graph import CUDAGraphWrapper\n",
        id="for annotations only",
    ),
    pytest.param(
        "RS403",
        "import typing\nif typing.TYPE_CHECKING:\n    from vllm.compilation.cuda_graph import CUDAGraphWrapper\n",
        id="for annotations only, by another name",
    ),
    pytest.param("RS403", "from vllm.v1.sample.sampler import Sampler\n", id="a class that NPU subclasses"),
    pytest.param(
        "RS403",
        "from vllm.compilation import cuda_graph\n" + method("return cuda_graph.CUDAGraphStat"),
        id="another name below a module",
    ),
    pytest.param(
        "RS403", method("return self.set_forward_context, x.CUDAGraphWrapper"), id="attributes that are called so"
    ),
    pytest.param(
        "RS403",
        "if TYPE_CHECKING:\n    from vllm.compilation import cuda_graph\n"
        + method("a: cuda_graph.CUDAGraphWrapper = x\nreturn a"),
        id="below a module for annotations only",
    ),
    pytest.param("RS404", method("return self._dummy_run(cudagraph_runtime_mode=x)"), id="the keyword elsewhere"),
    pytest.param(
        "RS404", method("with set_ascend_forward_context(aclgraph_runtime_mode=x): pass"), id="the right keyword"
    ),
    pytest.param(
        "RS404",
        method("with set_ascend_forward_context(aclgraph_runtime_mode=cudagraph_runtime_mode): pass"),
        id="a variable of that name",
    ),
    pytest.param(
        "RS405",
        "class A:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, value): pass\n",
        id="a property and its setter",
    ),
    pytest.param(
        "RS405",
        "class A:\n    @hybrid\n    def x(self): return 1\n    @x.expression\n    def x(cls): return 2\n",
        id="what the first one takes up",
    ),
    pytest.param(
        "RS405",
        "@typing.overload\ndef f(x: int): ...\n@typing.overload\ndef f(x: str): ...\ndef f(x): return x\n",
        id="overloads",
    ),
    pytest.param(
        "RS405",
        "@send.register(int)\ndef _(x): return 1\n@send.register(str)\ndef _(x): return 2\n",
        id="what a decorator registers",
    ),
    pytest.param(
        "RS405",
        method("".join(f'self.send("""\n  # {n}\n""", {"x" * 60})\n' for n in (1, 2, 3, 4, 5, 2, 3, 9))),
        id="texts that differ behind a sharp",
    ),
    pytest.param(
        "RS405",
        "from typing import overload\n@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x): pass\n",
        id="overloads",
    ),
    pytest.param(
        "RS405",
        '@torch.library.impl("a", "b")\ndef _(x): pass\n@torch.library.impl("c", "d")\ndef _(x): pass\n',
        id="functions without a name that decorators take",
    ),
    pytest.param(
        "RS405", "def f(): return 1\nONE = f()\ndel f\ndef f(): return 2\n", id="a definition that ended before"
    ),
    pytest.param("RS405", "if A:\n    def f(): pass\nelse:\n    def f(): pass\n", id="one definition per branch"),
    pytest.param("RS405", method("self.a = 1\nself.b = 2\nself.a = 1\nself.b = 2"), id="two short lines twice"),
    pytest.param("RS406", method("# runner-sync is a tool to review\nreturn x"), id="a comment about the tool"),
    pytest.param("RS406", method('return "# runner-sync: review R1"'), id="the words in a string"),
    pytest.param("RS407", method('return "x" in vars(self)'), id="vars of an object"),
    pytest.param("RS407", method('return "x" in self.locals()'), id="a method of that name"),
    pytest.param("RS407", method('return hasattr(self, "x")'), id="hasattr"),
    pytest.param("RS407", method("return locals()"), id="locals for another use"),
    pytest.param("RS407", method('return vars(self).get("x"), x.get("x")'), id="got from another mapping"),
    pytest.param("RS407", method("return locals().get(x)"), id="a name that is computed"),
    pytest.param("RS408", method("out = None\nout = self.build(x)\nreturn out"), id="a default, then a value"),
    pytest.param("RS408", method("out = self.build(x)\nself.send(out)\nout = None"), id="read in between"),
    pytest.param("RS408", method("out = self.build(x)\nif x:\n    out = None\nreturn out"), id="reset in a branch"),
    *(
        pytest.param("RS408", method(f"out = self.build(x)\nself.log({read})\nout = None"), id=f"read by {read}")
        for read in ("locals()", "**vars()", "eval(x)")
    ),
    pytest.param("RS408", method("out = x\nout = None\nreturn out"), id="no call computed it"),
    pytest.param("RS408", method("ok = self.check(x)\nok = False\nreturn ok"), id="a value that says no"),
    pytest.param("RS408", method("_ = self.build(x)\n_ = None"), id="the name for nothing"),
    pytest.param("RS408", method("global out\nout = self.build(x)\nout = None"), id="a name of the module"),
    pytest.param(
        "RS408",
        method("def later():\n    return out\nout = self.build(x)\nout = None\nreturn later"),
        id="what a function inside reads",
    ),
    pytest.param(
        "RS408", method("try:\n    out = self.build(x)\n    out = None\nexcept ValueError:\n    pass"), id="in a try"
    ),
    pytest.param(
        "RS408", method("try:\n    out = self.build(x)\n    out = None\nexcept* ValueError:\n    pass"), id="in a try*"
    ),
    pytest.param(
        "RS408",
        method("out = self.build(x)\ndef send():\n    return out\nsend()\nout = None"),
        id="captured by a nested function",
    ),
    pytest.param("RS408", method("out, n = self.build(x)\nout = None\nreturn n"), id="unpacked together with another"),
    pytest.param(
        "RS408",
        method("try:\n    out = self.build(x)\nexcept ValueError:\n    pass\nout = None"),
        id="in a try body",
    ),
    pytest.param(
        "RS408",
        method("for row in x:\n    last = self.build(row)\n    if row:\n        break\n    last = None\nreturn last"),
        id="the loop ends in between",
    ),
    pytest.param(
        "RS408",
        method("for row in x:\n    self.send(last)\n    last = self.build(row)\n    if row: continue\n    last = None"),
        id="the loop goes on in between",
    ),
    pytest.param(
        "RS408",
        method(
            "for row in x:\n    if row:\n        last = self.build(row)\n        break\n    last = None\nreturn last"
        ),
        id="the loop ends with the value",
    ),
    pytest.param(
        "RS408",
        method(
            "for row in x:\n    last = self.build(row)\n    for part in row:\n        pass\n    else:\n        break\n"
            "    last = None\nreturn last"
        ),
        id="the loop ends after another one",
    ),
    pytest.param("RS409", method("return torch.ones(x, x)"), id="sizes from variables"),
    pytest.param("RS409", method("return torch.ones(16, 16)"), id="small"),
    pytest.param("RS409", method("return torch.ones(2048, 4096)"), id="not square"),
    *(
        pytest.param("RS409", method(f"return torch.{made}"), id=made)
        for made in ("zeros(size=(x, 2048))", "ones_like(x, 2048, 2048)", "randint(2048, 2048)", "zeros(out=x)")
    ),
    *(
        pytest.param("RS404", method(f"return {made}"), id=made)
        for made in (
            "partial(self.run, set_ascend_forward_context, cudagraph_runtime_mode=x)",
            "self.run(set_ascend_forward_context, cudagraph_runtime_mode=x)",
            "partial(set_ascend_forward_context, aclgraph_runtime_mode=cudagraph_runtime_mode)",
        )
    ),
    pytest.param("RS409", method("return np.ones((2048, 2048))"), id="not a tensor"),
    pytest.param(
        "RS409", method("assert x <= 2048\nreturn torch.ones(2048, 2048)"), id="the length is compared with it"
    ),
    pytest.param("RS409", method("return torch.ones(2048, 2048)[:x, :x], min(x, 2048)"), id="the length is capped"),
    pytest.param("RS411", method("if x:\n    return 1\nreturn 2"), id="a return under a condition"),
    pytest.param("RS411", method("raise NotImplementedError\nyield x"), id="what makes a generator"),
    pytest.param("RS411", method("if x:\n    return\nelse:\n    raise x\nyield x"), id="a generator behind branches"),
    pytest.param("RS411", method("if x:\n    return 1\nelse:\n    x = 2\nreturn x"), id="behind a branch that stays"),
    pytest.param(
        "RS411", method("with suppress(KeyError):\n    return x\nreturn 2"), id="behind a `with` that swallows"
    ),
    pytest.param(
        "RS411", method("raise NotImplementedError\nx = 1\nyield x"), id="what makes a generator, further below"
    ),
    pytest.param(
        "RS411",
        method("with ExitStack() as stack:\n    stack.enter_context(suppress(KeyError))\n    return x\nreturn 2"),
        id="behind a stack that swallows",
    ),
    pytest.param(
        "RS411",
        "from contextlib import suppress as quiet\n" + method("with quiet(KeyError):\n    return x\nreturn 2"),
        id="behind a `with` that swallows under another name",
    ),
    pytest.param("RS411", method("return x\n# self.f()"), id="a comment behind a return"),
    pytest.param("RS411", method("def f():\n    return x\nreturn f"), id="the return of a function in it"),
    pytest.param("RS410", method('return """\n=======\n"""'), id="a rule inside a string"),
    pytest.param("RS410", method("# <<<<<<< read this first\nreturn x"), id="arrows in a comment"),
    *(
        pytest.param("RS413", text, id=f"a name bound by {how}")
        for how, text in (
            ("a star import", "from rows import *\n" + method("return rows(x)")),
            ("globals()", method('globals()["rows"] = x\nreturn rows')),
            ("exec", method('exec("rows = 1")\nreturn rows')),
            ("a global statement", method("global rows\nrows = x") + "def read():\n    return rows\n"),
            ("the module itself", method("return __file__, __name__, __class__, __builtins__, print")),
            ("a class body", "class A:\n    rows = 1\n    more = [rows]\n"),
            ("a comprehension", method("return [row for row in x if (last := row)], last")),
            ("an outer function", method("def inner():\n    return rows\nrows = x\nreturn inner()")),
            ("a class body that declares it", "rows = 1\nclass A:\n    rows: int\n    more = [rows]\n"),
            ("a loop, then deleted", method("for row in x:\n    print(row)\n    del row")),
            ("an earlier round", method("for row in x:\n    if row:\n        print(x)\n    last = row\nreturn last")),
            (
                "an earlier round of `for`",
                method("for i, row in enumerate(x):\n    if i > 0:\n        self.join(last, row)\n    last = row"),
            ),
            (
                "an earlier round of `while`",
                method(
                    "first = True\nwhile first or last:\n    if not first:\n        x(last)\n    first, last = 0, x()"
                ),
            ),
            (
                "an earlier round of an outer loop",
                method("while True:\n    for row in x:\n        if row:\n            x(last)\n    last = x"),
            ),
            (
                "an earlier round, in a `try`",
                method(
                    "for row in x:\n    try:\n        if row:\n            x(last)\n    finally:\n        last = row"
                ),
            ),
            ("gettext, or Windows", method('return _("no rows"), WindowsError')),
            ("one of two paths", method("if x:\n    rows = 1\nreturn rows")),
            ("a later definition", method("return Rows(x)") + "class Rows: pass\n"),
            ("a branch of the module", "if flag():\n    rows = 1\ndef flag(): pass\n" + method("return rows")),
        )
    ),
    pytest.param(
        "RS413",
        "if TYPE_CHECKING:\n    from rows import Rows\n"
        + method('row: Rows = x\nreturn cast("Rows", row)', signature="self, x: Rows")
        + "TYPE_CHECKING = False\ndef cast(kind, value): return value\n",
        id="a name that only annotations read",
    ),
    pytest.param(
        "RS413", method("try:\n    return rows\nexcept NameError:\n    return x"), id="a name that may be missing"
    ),
    *(
        pytest.param("RS405", method(body), id=f"calls: {body}")
        for body in (
            "self.f()\nself.f()",
            "x.append(0)\nx.append(0)",
            "self.f(x)\nx = 1\nself.f(x)",
            "self.f(x)\nself.f(1)",
            "self._dummy_run(8, warm=True)\nself._dummy_run(8, warm=True)",
            "self.warmUp(x)\nself.warmUp(x)",
        )
    ),
    pytest.param(
        "RS405",
        method("self.run(x)\nself.run(x)").replace("execute_model", "warm_up_model"),
        id="calls in a function that warms up",
    ),
    pytest.param("RS413", method('return "rows", x.rows, x(rows=1)  # rows'), id="a word that is no name"),
]


@pytest.mark.parametrize(("code", "text"), NOOPS)
def test_near_misses_are_left_alone(code: str, text: str) -> None:
    assert found(job(text), code) == []


FINDINGS = [
    pytest.param("RS401", method(f"{RULER}\na = x"), [(3, 3, "unbalanced")], id="a block that never closes"),
    pytest.param(
        "RS401",
        method(f'"""A.\n{RULER}\n"""\na = x\n{RULER}\nreturn a'),
        [(7, 7, "unbalanced")],
        id="its like in a docstring",
    ),
    pytest.param(
        "RS401",
        method(f'{RULER}\na = x\nb = f"""{{a}}\n{RULER}\n"""\nreturn b'),
        [(3, 3, "unbalanced")],
        id="its like in a formatted string",
    ),
    pytest.param(
        "RS401",
        method(f"{RULER}\na = x\n{RULER}\nb = a\n{BARE}\nc = b\n{RULER}\nreturn c"),
        [(7, 7, "unbalanced"), (9, 9, "unbalanced")],
        id="one that a bare ruler ended, and one that never closes",
    ),
    pytest.param("RS401", method(f"{RULER}\n{RULER}\nreturn x"), [(3, 4, "empty")], id="a block of nothing"),
    pytest.param(
        "RS401",
        method(f"if x:\n    {RULER}\n    a = x\n{RULER}\nreturn x"),
        [(4, 6, "crosses-block")],
        id="out of a branch",
    ),
    pytest.param("RS402", method("torch.cuda.synchronize()"), [(3, 3, "torch.cuda")], id="a call"),
    pytest.param("RS402", "from torch.cuda import Stream\n", [(1, 1, "torch.cuda")], id="an import from it"),
    pytest.param("RS402", "from torch import cuda\n", [(1, 1, "torch.cuda")], id="an import of it"),
    *(
        pytest.param("RS402", method(f"return {code}"), [(3, 3, symbol)], id=code)
        for code, symbol in (
            ("x.cuda()", ".cuda()"),
            ("x.cuda(non_blocking=True)", ".cuda()"),
            ('x.to("cuda", non_blocking=True)', ".to('cuda')"),
            ('torch.device("cuda")', "torch.device('cuda')"),
            ('torch.device(f"cuda:{self.rank}")', "torch.device(f'cuda:{self.rank}')"),
            ('torch.zeros(4, device="cuda:0")', "device='cuda:0'"),
        )
    ),
    *(
        pytest.param("RS403", f"{head}\n" + method(f"return {name}"), [(4, 4, "CUDAGraphWrapper")], id=name)
        for head, name in (
            ("from vllm.compilation import cuda_graph", "cuda_graph.CUDAGraphWrapper"),
            ("import vllm.compilation.cuda_graph as graphs", "graphs.CUDAGraphWrapper"),
            ("import vllm.compilation.cuda_graph", "vllm.compilation.cuda_graph.CUDAGraphWrapper"),
        )
    ),
    pytest.param(
        "RS403",
        "from vllm.compilation.cuda_graph import CUDAGraphStat, CUDAGraphWrapper\n",
        [(1, 1, "CUDAGraphWrapper")],
        id="the graph wrapper",
    ),
    pytest.param(
        "RS403",
        "from vllm_omni.worker.gpu_model_runner import CUDAGraphWrapper\n",
        [(1, 1, "CUDAGraphWrapper")],
        id="passed on by omni's GPU runner",
    ),
    pytest.param(
        "RS403",
        method("from vllm.forward_context import set_forward_context"),
        [(3, 3, "set_forward_context")],
        id="in a method",
    ),
    *(
        pytest.param(
            "RS403",
            f"if {test}:\n    from vllm.forward_context import set_forward_context\n",
            [(2, 2, "set_forward_context")],
            id=f"under {test}",
        )
        for test in ("not TYPE_CHECKING", "TYPE_CHECKING or is_eager")
    ),
    pytest.param(
        "RS404",
        method("with set_ascend_forward_context(None, cudagraph_runtime_mode=x): pass"),
        [(3, 3, "set_ascend_forward_context(cudagraph_runtime_mode=)")],
        id="the GPU's keyword",
    ),
    pytest.param(
        "RS404",
        method("with set_ascend_forward_context(self.f(self.g(x)), n=[h(x)],\n    cudagraph_runtime_mode=x): pass"),
        [(4, 4, "set_ascend_forward_context(cudagraph_runtime_mode=)")],
        id="behind nested calls, on another line",
    ),
    pytest.param(
        "RS404",
        method("with set_ascend_forward_context(\n    None,  # 1) no metadata\n    cudagraph_runtime_mode=x): pass"),
        [(5, 5, "set_ascend_forward_context(cudagraph_runtime_mode=)")],
        id="behind a comment with a parenthesis",
    ),
    pytest.param(
        "RS405",
        "class A:\n    @torch.inference_mode()\n    def f(self): return 1\n\n    @torch.inference_mode()\n"
        "    def f(self): return 2\n",
        [(6, 6, "f")],
        id="a decorated method twice",
    ),
    pytest.param(
        "RS405",
        "class A:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, value): pass\n"
        "    @property\n    def x(self): return 2\n",
        [(7, 7, "x")],
        id="a property again",
    ),
    pytest.param(
        "RS405",
        "def f(): return 1\nif A:\n    del g\ndel h\ndef f(): return 2\n",
        [(5, 5, "f")],
        id="another one ended",
    ),
    pytest.param(
        "RS405", "class A:\n    def f(self): return 1\n    def f(self): return 2\n", [(3, 3, "f")], id="a method twice"
    ),
    pytest.param(
        "RS406", method("# runner-sync: review R3 both changed it\nreturn x"), [(3, 3, "R3")], id="an open item"
    ),
    pytest.param("RS407", method('if "out" in locals(): pass'), [(3, 3, "out")], id="in locals"),
    pytest.param("RS407", method('if "out" not in locals(): pass'), [(3, 3, "out")], id="not in locals"),
    pytest.param("RS407", method('if "out" in locals().keys(): pass'), [(3, 3, "out")], id="in its keys"),
    pytest.param("RS407", method('return locals().get("out")'), [(3, 3, "out")], id="got from locals"),
    pytest.param("RS407", method('if vars().get("out", x) is None: pass'), [(3, 3, "out")], id="got with a default"),
    pytest.param(
        "RS408",
        method("out = self.build(x)\nself.send(x)\nout = []\nreturn out"),
        [(5, 5, "out")],
        id="emptied at once",
    ),
    *(
        pytest.param(
            "RS408",
            method(f"out{kind} = self.build(x)\n{between}\n{reset}\nreturn out"),
            [(5, 5, "out")],
            id=f"{between or 'nothing'} between, {reset}{kind}",
        )
        for kind, between, reset in (
            ("", "# the default of out", "out = []"),
            (": list", "", "out = []"),
            ("", "self.send(x)", "out=[]"),
            ("", "self.send(x)", "out: list=[]"),
        )
    ),
    pytest.param(
        "RS408",
        method("if x:\n    out = self.build(x)\nelse:\n    out = self.other(x)\nout = None\nreturn out"),
        [(7, 7, "out")],
        id="computed in both branches",
    ),
    pytest.param(
        "RS408",
        method("out = self.build(x)\nfor row in x:\n    if row:\n        break\nout = None\nreturn out"),
        [(7, 7, "out")],
        id="another loop ends in between",
    ),
    pytest.param(
        "RS408",
        method("out = self.build(x)\nif x:\n    return None\nout = None\nreturn out"),
        [(6, 6, "out")],
        id="the method ends in between",
    ),
    *(
        pytest.param(
            "RS408",
            method(f"out = self.build(x)\nself.log({read})\nout = None"),
            [(5, 5, "out")],
            id=f"not read by {read}",
        )
        for read in ("self.locals()", "vars(self)", "self.eval(x)")
    ),
    *(
        pytest.param(
            "RS408",
            method(f"ok = self.check(x)\nok = {value}\nout = self.build(x)\nout = 0\nreturn ok, out"),
            [(6, 6, "out")],
            id=f"beside {value}, which is a value",
        )
        for value in ("False", "0.0")
    ),
    pytest.param(
        "RS409", method("return torch.triu(torch.ones(2048, 2048))"), [(3, 3, "2048x2048")], id="a causal mask"
    ),
    pytest.param("RS409", method("return torch.zeros((4096, 4096))"), [(3, 3, "4096x4096")], id="sizes in a tuple"),
    pytest.param("RS409", method("return torch.zeros(2_048, 2048)"), [(3, 3, "2048x2048")], id="another spelling"),
    pytest.param(
        "RS409",
        method("return torch.zeros(\n    2048,  # rows\n    2048,\n)"),
        [(3, 6, "2048x2048")],
        id="a comment between the sizes",
    ),
    *(
        pytest.param("RS409", method(f"return torch.{made}"), [(3, 3, "2048x2048")], id=made)
        for made in ("zeros(size=(2048, 2048))", "randn(2048, 2048)", "rand(3, 2048, 2048, device=x)")
    ),
    pytest.param(
        "RS404",
        method("return functools.partial(set_ascend_forward_context, x, cudagraph_runtime_mode=x)"),
        [(3, 3, "set_ascend_forward_context(cudagraph_runtime_mode=)")],
        id="passed on later",
    ),
    pytest.param("RS411", method("return x\nself.f()\nself.g()"), [(4, 4, "self.f()")], id="behind a return"),
    pytest.param("RS411", method("if x:\n    raise x\n    self.f()"), [(5, 5, "self.f()")], id="behind a raise"),
    pytest.param(
        "RS411",
        method("return x\ndef rows():\n    yield x"),
        [(4, 4, "def rows():")],
        id="a generator that nobody gets",
    ),
    *(
        pytest.param(
            "RS411",
            "from contextlib import nullcontext as quiet\n" + method(f"with {made}:\n    {body}\n    return x\nx = 2"),
            [(7, 7, "x = 2")],
            id=f"behind a `with {made}` that enters {body}",
        )
        for made, body in (
            ("ExitStack() as stack", "stack.enter_context(self.lock)"),
            ("ExitStack() as stack", "self.stack.enter_context(suppress(KeyError))"),
            ("ExitStack() as stack", "stack.callback(suppress)"),
            ("quiet()", "self.f()"),
        )
    ),
    pytest.param(
        "RS411",
        method("if x:\n    return 1\nelse:\n    raise x\nself.f()"),
        [(7, 7, "self.f()")],
        id="behind branches that all leave",
    ),
    pytest.param(
        "RS411",
        method("with self.lock:\n    return x\nself.f()"),
        [(5, 5, "self.f()")],
        id="behind a `with` that leaves",
    ),
    pytest.param(
        "RS411",
        method("for y in x:\n    continue\n    self.f()\nelse:\n    return 1\n    if x:\n        return 2"),
        [(5, 5, "self.f()"), (8, 9, "if x:")],
        id="in a loop and its else",
    ),
    pytest.param(
        "RS410",
        "<<<<<<< omni\na = 1\n=======\na = 2\n>>>>>>> upstream\n",
        [(1, 5, "conflict at line 1")],
        id="a conflict",
    ),
    pytest.param("RS405", method("self.f(x)\nself.f(x)"), [(4, 4, "self.f(x)")], id="a call behind itself"),
    pytest.param(
        "RS405",
        method("self.f(8, warm=x)\nself.f(8, warm=x)"),
        [(4, 4, "self.f(8, warm=x)")],
        id="a call behind itself with a word of warming in its arguments",
    ),
    pytest.param("RS413", method("a = 1\nreturn x(rows, rows)"), [(4, 4, "rows")], id="a name that nothing binds"),
    pytest.param("RS413", method("return x(lambda: [rows for row in x])"), [(3, 3, "rows")], id="in an inner scope"),
    pytest.param(
        "RS413", "class A:\n    rows = 1\n    def f(self):\n        return rows\n", [(4, 4, "rows")], id="of a class"
    ),
    pytest.param("RS413", method("x = rows\nrows = 1\nreturn x"), [(3, 3, "rows")], id="a local read before it is set"),
    pytest.param(
        "RS413",
        method("for row in rows:\n    x(row)\nrows = 1"),
        [(3, 3, "rows")],
        id="a local read by a loop before it is set",
    ),
    pytest.param(
        "RS413",
        method("for row in x:\n    x(rows)\nrows = 1"),
        [(4, 4, "rows")],
        id="a local read in a loop before it is set",
    ),
    pytest.param(
        "RS413",
        method("x = rows\nrows = 1\nreturn x") + "    def more(self, x):\n        x(rows)\n        rows = 1\n",
        [(3, 3, "rows"), (7, 7, "rows")],
        id="a local of two methods read before it is set",
    ),
    pytest.param(
        "RS413",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rows import Rows\n"
        + method("return Rows(x)", signature="self, x: Rows"),
        [(6, 6, "Rows")],
        id="imported for type checkers only",
    ),
    pytest.param("RS413", "rows: int\n" + method("return rows"), [(4, 4, "rows")], id="declared and never set"),
    pytest.param(
        "RS413", "class A:\n    rows: int\n    x = rows\n", [(3, 3, "rows")], id="a field that its class reads"
    ),
    pytest.param(
        "RS413",
        "class A:\n    rows: int\n    def f(self, x=rows): ...\n",
        [(3, 3, "rows")],
        id="a field that is a default value",
    ),
    pytest.param(
        "RS413",
        "class A:\n    rows: int\n    @rows.setter\n    def f(self): ...\n",
        [(3, 3, "rows")],
        id="a field that decorates",
    ),
    pytest.param(
        "RS413",
        "class A:\n    rows: int\n    def f(self):\n        return rows\n",
        [(4, 4, "rows")],
        id="a field that a method reads without `self`",
    ),
    pytest.param(
        "RS413",
        "def f(rows):\n    return rows\n" + method("return rows"),
        [(5, 5, "rows")],
        id="a local of another function",
    ),
]


@pytest.mark.parametrize(("code", "text", "expected"), FINDINGS)
def test_findings_are_placed_and_named(code: str, text: str, expected: list[tuple[int, int, str]]) -> None:
    findings = found(job(text), code)
    assert [(f.line, f.end_line, f.symbol) for f in findings] == expected


def test_a_pasted_block_is_found_where_it_stands_again() -> None:
    block = "\n".join(f"self.{name} = self.make_something({name!r}, size=64)" for name in "abcd")
    text = method(f"{block}\nself.other()\n{block}\nreturn x")
    assert [(f.line, f.end_line) for f in found(job(text), "RS405")] == [(8, 11)]


def test_a_comment_does_not_hide_a_pasted_block() -> None:
    lines = [
        f"self.{name} = self.make_something({size}, size=64)" for name, size in zip("abcd", (1, 2, 3, 4), strict=True)
    ]
    block, again = "\n".join(lines), "\n".join([f"{lines[0]}  # pasted", *lines[1:]])
    text = method(f"{block}\nself.other()\n{again}\nreturn x")
    assert [(f.line, f.end_line) for f in found(job(text), "RS405")] == [(8, 11)]


def test_a_block_in_another_branch_is_no_duplicate() -> None:
    block = "\n    ".join(f"self.{name} = self.make_something({name!r}, size=64)" for name in "abcd")
    assert found(job(method(f"if x:\n    {block}\nelse:\n    {block}")), "RS405") == []


@pytest.mark.parametrize(
    ("code", "body", "after"),
    [
        ("RS402", "torch.cuda.synchronize()", "torch.npu.synchronize()"),
        (
            "RS404",
            "with set_ascend_forward_context(None, cudagraph_runtime_mode=x): pass",
            "with set_ascend_forward_context(None, aclgraph_runtime_mode=x): pass",
        ),
    ],
)
@pytest.mark.parametrize(
    "above", ["", '"""\f\u2028\x1c"""\n'], ids=["", "below what only str.splitlines takes for line ends"]
)
def test_a_patch_applies_and_settles_the_finding(code: str, body: str, after: str, above: str, tmp_path: Path) -> None:
    given = job(above + method(body))
    (finding,) = found(given, code)
    path = tmp_path / finding.path
    path.parent.mkdir(parents=True)
    path.write_text(given.modules[0].text, "utf-8")
    subprocess.run(["git", "apply", "-"], input=finding.fix, encoding="utf-8", cwd=tmp_path, check=True)
    assert path.read_text("utf-8") == above + method(after)
    assert symbols(job(path.read_text("utf-8")), code) == []


def test_columns_count_characters_not_bytes() -> None:
    (finding,) = found(job(method('a = "über"; torch.cuda.synchronize()')), "RS402")
    assert (finding.column, finding.end_column) == (21, 31)


HELPER = AR.replace("npu_ar_model_runner", "helper")
NEW_RUNNER = """\
from vllm.compilation.cuda_graph import CUDAGraphWrapper
from vllm.forward_context import set_forward_context
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner

class NPUDiffusionModelRunner(OmniNPUModelRunner):
    def execute_model(self, x):
        with set_forward_context(x):
            return torch.cuda.synchronize()
"""


def test_a_runner_that_no_profile_names_and_a_helper_are_read_as_npu_code() -> None:
    files = {HELPER: "def _sync():\n    torch.cuda.synchronize()\n", AR.replace("_ar_", "_diffusion_"): NEW_RUNNER}
    given = job(EMPTY_AR, "", files=files)
    assert [(f.path, f.line) for f in found(given, "RS402")] == [(HELPER, 2), (AR.replace("_ar_", "_diffusion_"), 8)]
    assert symbols(given, "RS403") == ["CUDAGraphWrapper", "set_forward_context"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("vllm_omni/worker/helper.py", "torch.cuda.synchronize()\n", id="in the folder of the GPU's"),
        pytest.param(HELPER, "torch.npu.synchronize()\n# torch.cuda\n", id="only in a comment"),
        pytest.param(HELPER, "if torch.cuda.is_available():\n    torch.cuda.synchronize()\n", id="asked for"),
    ],
)
def test_a_helper_that_is_left_alone(path: str, text: str) -> None:
    given = job(EMPTY_AR, "", files={path: text})
    assert found(given, "RS402") == []


def test_a_helper_that_is_no_python_ends_the_run_unless_a_branch_left_it_alone() -> None:
    given = job(EMPTY_AR, "", files={HELPER: "def _sync(:\n    torch.cuda.synchronize()\n"})
    with pytest.raises(InputError, match=r"helper\.py:1: does not parse"):
        check.run(given, Codes(("RS402",)))
    assert check.run(given, Codes(("RS402",)), changed={}).findings == ()


@pytest.mark.parametrize(
    ("branch", "ends"),
    [
        pytest.param(None, True, id="no branch"),
        pytest.param("helper", True, id="of the branch"),
        pytest.param("npu_ar_model_runner", False, id="of others"),
    ],
)
@pytest.mark.parametrize("folder", ["", "deep/"])
def test_a_helper_that_is_no_text_ends_the_run_unless_a_branch_left_it_alone(
    folder: str, branch: str | None, ends: bool
) -> None:
    path = HELPER.replace("helper", f"{folder}helper")
    changed = {path.replace("helper", branch): {1}} if branch is not None else None

    def read(asked: str) -> str | None:
        if asked == path:
            raise InputError(f"{path}:1 is not UTF-8 text")
        return given.read(asked) if given.read is not None else None

    given = job(EMPTY_AR, "", files={path: ""})
    unread = replace(given, read=read)
    with pytest.raises(InputError, match="is not UTF-8 text") if ends else nullcontext():
        result = check.run(replace(unread, before=lambda: unread), Codes(("RS402",)), changed=changed)
        assert (result.findings, result.branch_error) == ((), None)
    assert check.run(unread, Codes(("RS407",)), changed={}).findings == (), "no rule reads it"


def test_a_mixin_in_the_folder_is_told_once_and_where_it_stands() -> None:
    mixin = {HELPER: "class Mixin:\n    def nap(self):\n        torch.cuda.synchronize()\n"}
    head = "from vllm_omni.platforms.npu.worker.helper import Mixin\n"
    text = head + EMPTY_AR.replace("(OmniNPUModelRunner)", "(OmniNPUModelRunner, Mixin)")
    assert [(f.path, f.symbol) for f in found(job(text, "", files=mixin), "RS402")] == [(HELPER, "torch.cuda")]


def test_a_conflict_in_a_helper_is_told() -> None:
    text = "<<<<<<< HEAD\nx = torch.cuda\n=======\nx = 2\n>>>>>>> other\n"
    given = job(EMPTY_AR, "", files={HELPER: text})
    assert [(f.code, f.path) for f in check.run(given, Codes(("RS402", "RS410"))).findings] == [("RS410", HELPER)]


ENDS = "if x:\n    return 1\nself.run()\nreturn 2"
FALLS_OFF = {
    "the last line is gone": (ENDS, "if x:\n    return 1\nself.run()", True),
    "it is a call now": (ENDS, "if x:\n    return 1\nself.run()\nself.two()", True),
    "one of two branches": (
        "if x:\n    return 1\nelse:\n    return 2",
        "if x:\n    return 1\nelse:\n    self.run()",
        True,
    ),
    "it returns in a with": (ENDS, "with self.lock:\n    return 1", False),
    "nothing is returned any more": (ENDS, "self.run()", False),
    "it falls off as before": ("if x:\n    return 1", "if x:\n    return 2", False),
    "it returned None there": ("if x:\n    return 1\nreturn None", "if x:\n    return 1", False),
    "it raises there": (ENDS, "if x:\n    return 1\nraise ValueError", False),
    "it is a generator now": (ENDS, "if x:\n    return 1\nyield 2", False),
    "it goes on for ever": (ENDS, "while True:\n    if x:\n        return 1", False),
    "it goes on for ever in a with": (ENDS, "with x:\n    while True:\n        if x:\n            return 1", False),
    "it goes on for ever in a branch": (ENDS, "if x:\n    return 1\nelse:\n    while 1:\n        self.run()", False),
    "something leaves the loop": (ENDS, "while True:\n    if x:\n        break\n    return 1", True),
    "a loop inside is left": (ENDS, "while True:\n    for y in x:\n        break\n    self.run()", False),
    "the loop is left behind one inside": (
        ENDS,
        "while True:\n    for y in x:\n        self.run()\n    else:\n        break\n    return 1",
        True,
    ),
    "the loop has an end": (ENDS, "while x:\n    return 1", True),
    "a loop that is over returns": (ENDS, "for y in x:\n    return 1\nelse:\n    return 2", False),
    "a loop that may be left": (ENDS, "for y in x:\n    break\nelse:\n    return 2", True),
    "each case returns": (ENDS, "match x:\n    case 1:\n        return 1\n    case _:\n        return 2", False),
    "no case may match": (ENDS, "match x:\n    case 1:\n        return 1\n    case 2:\n        return 2", True),
    "a case goes on": (ENDS, "match x:\n    case 1:\n        self.run()\n    case _:\n        return 2", True),
    "a function in it is a generator": (ENDS, "def rows():\n    yield x\nif x:\n    return 1\nself.run(rows)", True),
    "only a function in it returns": (ENDS, "def f():\n    return 1\nself.run(f)", False),
}


@pytest.mark.parametrize("name", FALLS_OFF)
def test_a_method_that_comes_to_its_end_since_the_branch_began(name: str) -> None:
    before, now, is_told = FALLS_OFF[name]
    then = job(method(before))
    assert symbols(replace(job(method(now)), before=lambda: then), "RS412") == (["execute_model"] if is_told else [])
    assert symbols(job(method(now)), "RS412") == []


@pytest.mark.parametrize(
    ("result", "expected"),
    [("int", ["execute_model"]), ("int | None", []), ("Any", [])],
    ids=["promised", "or none", "any"],
)
def test_the_result_that_a_method_promises(result: str, expected: list[str]) -> None:
    then, now = (method(body).replace("x):", f"x) -> {result}:") for body in ("return 1", "self.run()"))
    before = job(then)
    assert symbols(replace(job(now), before=lambda: before), "RS412") == expected


@pytest.mark.parametrize(
    ("code", "comment"),
    [
        ("RS406", "# runner-sync: review R3 both changed it"),
        ("RS491", "# runner-sync: ignore[RS402] old reason"),
        ("RS492", "# runner-sync: ignore[RS402]"),
    ],
)
def test_a_comment_above_a_method_is_named_by_the_method(code: str, comment: str) -> None:
    text = f"class A:\n    x = 1\n\n    {comment}\n    @final\n    def run(self):\n        return 1\n"
    assert [finding.unit for finding in found(job(text), code)] == ["A.run"]
