"""The parts of Numba that ocucb.compiled relies on and Numba does not promise.

After an update of Numba these tests say, in a line, what has moved; the others would only say that something is wrong.
"""

from __future__ import annotations

import ast
import importlib
import tomllib
from pathlib import Path

import numba
import pytest

import ocucb.compiled

HOME = Path(ocucb.compiled.__file__).parent
PROJECT = Path(__file__).parents[2] / "pyproject.toml"

# What is used, by the module that uses it.
RELIED_ON = {
    "cache": [
        "numba.core.caching.Cache._impl_class",
        "numba.core.caching.Cache.save_overload",
        "numba.core.caching.CacheImpl._locator_classes",
        "numba.core.caching.CompileResultCacheImpl",
        "numba.core.caching.NullCache",
        "numba.core.caching._CacheLocator.ensure_cache_path",
        "numba.core.caching._CacheLocator.from_function",
        "numba.core.caching._CacheLocator.get_cache_path",
        "numba.core.caching._CacheLocator.get_source_stamp",
    ],
    "callees": [
        "numba.core.base.BaseContext.insert_user_function",
        "numba.core.codegen.CPUCodeLibrary._get_module_for_linking",
        "numba.core.codegen.CodeLibrary._raise_if_finalized",
        "numba.core.codegen.JITCodeLibrary.finalize",
        "numba.core.compiler.CompilerBase.define_pipelines",
        "numba.core.compiler.DefaultPassBuilder.define_nopython_pipeline",
        "numba.core.compiler.Flags.no_compile",
        "numba.core.compiler._LowerResult.cfunc",
        "numba.core.compiler_lock.global_compiler_lock",
        "numba.core.compiler_machinery.PassManager.add_pass_after",
        "numba.core.compiler_machinery.register_pass",
        "numba.core.options.DefaultOptions.no_cfunc_wrapper",
        "numba.core.options.DefaultOptions.no_cpython_wrapper",
        "numba.core.registry.CPUDispatcher.add_overload",
        "numba.core.registry.CPUDispatcher.compile",
        "numba.core.registry.CPUDispatcher.get_call_template",
        "numba.core.sigutils.normalize_signature",
        "numba.core.typed_passes.NativeLowering.run_pass",
    ],
    "callbacks": [
        "numba.core.ccallback.CFunc.address",
        "numba.core.ccallback.CFunc.compile",
        "numba.core.ccallback.CFunc.enable_caching",
        "numba.core.codegen.CPUCodeLibrary.add_ir_module",
        "numba.core.codegen.CodeLibrary.enable_object_caching",
        "numba.core.codegen.JITCodeLibrary",
        "numba.core.compiler_machinery.register_pass",
        "numba.core.sigutils.normalize_signature",
        "numba.core.typed_passes.NativeLowering.run_pass",
    ],
    "gpu_cache": [
        "numba.cuda.dispatcher.CUDACache._impl_class",
        "numba.cuda.dispatcher.CUDACache._index_key",
        "numba.cuda.dispatcher.CUDACache.cache_path",
        "numba.cuda.dispatcher.CUDACache.save_overload",
        "numba.cuda.dispatcher.CUDACacheImpl.filename_base",
        "numba.cuda.dispatcher.CacheImpl._locator_classes",
    ],
    "kernels": [
        "numba.core.codegen.JITCPUCodegen.set_env",
        "numba.core.compiler.CompileResult._find_referenced_environments",
        "numba.core.options.DefaultOptions._nrt",
        "numba.core.registry.CPUDispatcher._numba_type_",
        "numba.core.registry.CPUDispatcher.enable_caching",
    ],
    "pointers": [
        "numba.core.base.BaseContext.get_dummy_value",
        "numba.core.cgutils.get_or_insert_function",
        "numba.core.cgutils.ir",
        "numba.core.cgutils.unpack_tuple",
        "numba.np.arrayobj.make_array",
        "numba.np.arrayobj.populate_array",
    ],
}


def part(name: str) -> object:
    """Return the part of Numba of that name."""
    words = name.split(".")
    for split in range(len(words) - 1, 0, -1):
        try:
            found: object = importlib.import_module(".".join(words[:split]))
        except ModuleNotFoundError:
            continue
        for word in words[split:]:
            found = getattr(found, word)
        return found
    raise AttributeError(name)


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in RELIED_ON.items() for name in names])
def test_what_is_relied_on_is_where_it_was(module: str, name: str) -> None:
    try:
        part(name)
    except AttributeError:
        pytest.fail(f"Numba {numba.__version__} has no {name}; ocucb/compiled/{module}.py relies on it", pytrace=False)


def test_all_that_is_imported_of_numba_is_on_the_list() -> None:
    for file in HOME.glob("*.py"):
        listed = " ".join(RELIED_ON.get(file.stem, []))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba."):
                for alias in node.names:
                    assert f"{node.module}.{alias.name}" in listed, f"{file.name}: {node.module}.{alias.name}"


def test_numba_is_bounded_to_the_version_that_was_tried() -> None:
    minor = int(numba.__version__.split(".")[1])
    wanted = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    assert f"numba>=0.{minor},<0.{minor + 1}" in wanted, f"pyproject.toml bounds Numba, and this is {numba.__version__}"
