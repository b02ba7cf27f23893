# Launches, which only nvcc understands: kernel<<<grid, …>>>(…) becomes emulated("kernel", kernel, grid, …)(…).
s/\([A-Za-z_][A-Za-z_0-9]*\(<[A-Za-z_0-9]*>\)\{0,1\}\)<<</emulated("\1", \1, /g
s/>>>(/)(/g
