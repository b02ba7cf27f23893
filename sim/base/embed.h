// Files of the repository embedded in the program's read-only data, each with a terminating zero byte. Paths are
// relative to the repository's root. Each file is embedded in one source file; its text may be read anywhere.
#pragma once

#ifdef __wasm__ // where data has a section of its own, and a size
#define EMBED_BEGIN(name_) ".section .rodata." #name_ ",\"\",@\n.type " #name_ ",@object\n"
#define EMBED_END(name_)                                                                                               \
    ".size " #name_ ", . - " #name_ "\n.type " #name_ "_end,@object\n.globl " #name_ "_end\n" #name_                   \
    "_end:\n.byte 0\n.size " #name_ "_end, 1\n"
#else
#define EMBED_BEGIN(name_) ".pushsection .rodata\n"
#define EMBED_END(name_) ".globl " #name_ "_end\n" #name_ "_end:\n.byte 0\n.popsection\n"
#endif

#define EMBED(name_, path_)                                                                                            \
    __asm__(EMBED_BEGIN(name_) ".globl " #name_ "\n" #name_ ":\n.incbin \"" path_ "\"\n" EMBED_END(name_));            \
    extern const char name_[] __asm__(#name_), name_##_end[] __asm__(#name_ "_end")
