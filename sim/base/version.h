// The program's version, and the checksum of the engine that its results come from.
#pragma once

const char *program_version(void); // "0.1.0"
// The version and a checksum over the sources and the catalogue: equal engines give equal results. "0.1.0+1f3a0c5b7d42"
const char *engine_version(void);
