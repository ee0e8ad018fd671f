from __future__ import annotations

from machine.inspect import inspect
from machine.processor.instructions import of_risc_v, vector_instructions


def test_what_works_on_vectors_and_matrices_is_named_in_order():
    flags = ["amx_int8", "fpu", "avx512f", "avx2", "sse4_2", "avx512_bf16"]
    assert vector_instructions(flags) == ("SSE4.2", "AVX2", "AVX-512", "AVX-512 BF16", "AMX INT8")
    assert vector_instructions(["asimd", "sve", "sme", "asimdhp"]) == (
        "NEON",
        "NEON FP16",
        "SVE",
        "SME",
    )
    assert vector_instructions([]) == ()


def test_risc_v_names_its_extensions_by_letter_and_by_word():
    assert of_risc_v("rv64imafdcv_zba_zvfh") == ["i", "m", "a", "f", "d", "c", "rvv", "zba", "zvfh"]
    assert of_risc_v("mips1 mips2 mips32r1") == []
    assert of_risc_v("") == []


def test_the_vector_unit_of_a_risc_v_processor_is_found(tree):
    tree.write("/proc/cpuinfo", "processor : 0\nisa : rv64imafdcv_zicsr\nmmu : sv39\n")
    features = inspect(tree.root).cpu.features
    assert vector_instructions(features) == ("RVV",)
    assert "zicsr" in features
