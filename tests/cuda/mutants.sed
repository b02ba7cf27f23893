# Mistakes put into lockstep-bench, one at a time by number (check --mutant N), each of which it must itself report as a
# failed case: a rule that no longer finds its line is seen by the mistake that is then not found.
#
# ---- The protocols among virtual ranks: waits, barriers, fences, flags.
# 1 a sender does not wait for a free slot
s/if (to\[i\].done >= DEPTH) can = wait_for(/if (to[i].done >= DEPTH \&\& !is_mutant(1)) can = wait_for(/
# 2 a receiver does not wait for a filled slot
s/for (int i = 0; i < from_count && can && !of->is_ll; i++) \/\/ and the next/for (int i = 0; i < from_count \&\& can \&\& !of->is_ll \&\& !is_mutant(2); i++) \/\//
# 3 the block does not meet after waiting; 4 nor before the counters rise
s/__syncthreads(); \/\/ all know/if (!is_mutant(3)) __syncthreads(); \/\//
s/__syncthreads(); \/\/ all have moved/if (!is_mutant(4)) __syncthreads(); \/\//
# 5 no fence before the counters rise; 6 none after a wait
s/^        fence();$/        if (!is_mutant(5)) fence();/
s/^    fence(); \/\/ makes writes/    if (!is_mutant(6)) fence(); \/\//
# 7 only the first flag of a line is looked at; 8 flags do not change
s/(read.flag_a == flag && read.flag_b == flag)/(read.flag_a == flag \&\& (read.flag_b == flag || is_mutant(7)))/
s/unsigned flag = (unsigned)(end->done + 1);/unsigned flag = is_mutant(8) ? 1 : (unsigned)(end->done + 1);/
# 9 a ring with a step less; 10 a wait for more than ever comes
s/for (int s = 0; s < 2 \* n - 1; s++)/for (int s = 0; s < 2 * n - 1 - is_mutant(9); s++)/
s/from\[i\].done + 1);$/from[i].done + 1 + 1000 * is_mutant(10));/
# 11 the last vector of a piece is left out
s/^    move(of, from, from_count, (const float4 \*)in, (float4 \*)out, to, to_count, count \/ 4);/    move(of, from, from_count, (const float4 *)in, (float4 *)out, to, to_count, count \/ 4 - (is_mutant(11) \&\& count > 4));/
# ---- Streams and kernels.
# 20 a block's parts are written while they are still read; 21 and read before they are written
s/__syncthreads(); \/\/ parts may still/if (!is_mutant(20)) __syncthreads(); \/\//
s/__syncthreads(); \/\/ all parts are there/if (!is_mutant(21)) __syncthreads(); \/\//
# 22 a kernel of rows gets a block too few
s/<<<(unsigned)of->m, ROW_THREADS, 0,/<<<(unsigned)(of->m - is_mutant(22)), ROW_THREADS, 0,/
# 23 the loop over a grid takes steps that are too long
s/i += (size_t)gridDim.x \* blockDim.x)$/i += (size_t)gridDim.x * blockDim.x + is_mutant(23))/
# 24 rows end eight elements early; 25 Adam's moments begin at what lies there
s/^    FOR_EACH_HELD(h, i, width \/ 8) {/    FOR_EACH_HELD(h, i, width \/ 8 - is_mutant(24)) {/
s/^        CUDA_TRY(fault, cudaMemsetAsync(kernels.d\[s\]/        if (!is_mutant(25)) CUDA_TRY(fault, cudaMemsetAsync(kernels.d[s]/
# ---- GEMM and attention.
# 30 W is told to lie the other way; 31 X's sides are swapped; 32 all of a batch are the first
s/TRY(layout_create(&product->w, row->in_type, transposed ? k : n, transposed ? n : k,/TRY(layout_create(\&product->w, row->in_type, transposed != is_mutant(30) ? k : n, transposed != is_mutant(30) ? n : k,/
s/TRY(layout_create(&product->x, row->in_type, k, m, batch, fault));/TRY(layout_create(\&product->x, row->in_type, is_mutant(31) ? m : k, is_mutant(31) ? k : m, batch, fault));/
s/int64_t stride = fast \* slow;/int64_t stride = is_mutant(32) ? 0 : fast * slow;/
# 33 the softmax is not scaled; 34 the product runs in a stream that nobody waits for
s/of->batch \* of->m, of->n, attention_scale(of),/of->batch * of->m, of->n, is_mutant(33) ? 1 : attention_scale(of),/
s/^                                     device->workspace_bytes, device->stream));/                                     device->workspace_bytes, is_mutant(34) ? device->second : device->stream));/
# ---- Launches and transfers.
# 40 a graph holds a launch less; 41 the way back is not waited for; 42 nor copies between peers
s/for (int i = 0; i < GRAPH_KERNELS; i++) count_kernel/for (int i = is_mutant(40); i < GRAPH_KERNELS; i++) count_kernel/
s/CUDA_TRY(fault, cudaStreamWaitEvent(device->stream, device->join, 0));/if (!is_mutant(41)) CUDA_TRY(fault, cudaStreamWaitEvent(device->stream, device->join, 0));/
s/CUDA_TRY(fault, cudaStreamWaitEvent(device->stream, ways\[w\]->arrived, 0));/if (!is_mutant(42)) CUDA_TRY(fault, cudaStreamWaitEvent(device->stream, ways[w]->arrived, 0));/
# ---- NCCL.
# 50 from the wrong neighbour; 51 the wrong piece
s/(rank + ranks - 1) % ranks, communicator, stream));/(rank + ranks - 1 + is_mutant(50)) % ranks, communicator, stream));/
s/nccl.send(in + peer \* share, share,/nccl.send(in + (is_mutant(51) ? 0 : peer) * share, share,/
