// Kernels with one mistake each, and what the emulated GPU must say of it; and kernels with none, which must run. A
// checker that finds nothing in these would find nothing in the suite either.
#include "wrong_kernels.h"

#include <cooperative_groups.h>

#include "calibrate/gpu/bench/cuda_order.h"

#define THREADS 64
#define FLOATS 256

typedef struct Mail { // from block 0 to block 1
    volatile unsigned filled;
    float data[THREADS];
} Mail;

__global__ void adds_up(float *memory) { // right: through shared memory and shuffles
    __shared__ float parts[2];
    float sum = (float)threadIdx.x;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    memory[threadIdx.x] = parts[0] + parts[1];
}

__global__ void adds_up_unmet(float *memory) { // no barrier between the parts and their sum
    __shared__ float parts[2];
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = 1;
    memory[threadIdx.x] = parts[0] + parts[1];
}

__global__ void writes_past_the_end(float *memory) { memory[FLOATS - THREADS + 1 + threadIdx.x] = 1; }
__global__ void reads_past_the_end(float *memory) { memory[threadIdx.x] = memory[FLOATS + threadIdx.x]; }
__global__ void reads_the_host(float *memory, const float *host) { memory[threadIdx.x] = host[threadIdx.x]; }

__global__ void loads_across(float *memory) {
    float4 four = *(const float4 *)(memory + 1);
    memory[threadIdx.x + THREADS] = four.x + four.y;
}

__global__ void writes_twice(float *memory) { memory[threadIdx.x / 2] = (float)threadIdx.x; }

__global__ void meets_by_half(float *memory) {
    if (threadIdx.x < 32) __syncthreads();
    memory[threadIdx.x] = 1;
}

__global__ void meets_alone(float *memory) { // a barrier of all blocks, in a launch that is not cooperative
    cooperative_groups::this_grid().sync();
    memory[threadIdx.x] = 1;
}

__device__ void write_mail(Mail *mail, bool meets, bool fences) {
    mail->data[threadIdx.x] = (float)threadIdx.x;
    if (meets) __syncthreads();
    if (threadIdx.x == 0) {
        if (fences) fence();
        mail->filled = 1;
    }
}

__device__ void read_mail(Mail *mail, float *memory, bool waits, bool fences) {
    if (threadIdx.x == 0) {
        while (waits && mail->filled == 0) {}
        if (fences) fence();
    }
    __syncthreads();
    memory[threadIdx.x] = mail->data[THREADS - 1 - threadIdx.x];
}

__global__ void mails(float *memory) { // right: barrier, fence, counter; counter, fence, barrier
    Mail *mail = (Mail *)(memory + FLOATS / 2);
    if (blockIdx.x == 0) write_mail(mail, true, true);
    if (blockIdx.x == 1) read_mail(mail, memory, true, true);
}
__global__ void mails_unwaited(float *memory) {
    Mail *mail = (Mail *)(memory + FLOATS / 2);
    if (blockIdx.x == 0) write_mail(mail, true, true);
    if (blockIdx.x == 1) read_mail(mail, memory, false, true);
}
__global__ void mails_unmet(float *memory) {
    Mail *mail = (Mail *)(memory + FLOATS / 2);
    if (blockIdx.x == 0) write_mail(mail, false, true);
    if (blockIdx.x == 1) read_mail(mail, memory, true, true);
}
__global__ void mails_unfenced(float *memory) {
    Mail *mail = (Mail *)(memory + FLOATS / 2);
    if (blockIdx.x == 0) write_mail(mail, true, false);
    if (blockIdx.x == 1) read_mail(mail, memory, true, true);
}
__global__ void mails_unfenced_there(float *memory) {
    Mail *mail = (Mail *)(memory + FLOATS / 2);
    if (blockIdx.x == 0) write_mail(mail, true, true);
    if (blockIdx.x == 1) read_mail(mail, memory, true, false);
}

static void launch_alone(void (*kernel)(float *), float *memory) { kernel<<<1, THREADS, 0, 0>>>(memory); }
static void launch_on_host(void (*kernel)(float *), float *memory) {
    static float host[THREADS];
    (void)kernel;
    reads_the_host<<<1, THREADS, 0, 0>>>(memory, host);
}
static void launch_together(void (*kernel)(float *), float *memory) {
    void *arguments[] = {&memory};
    cudaLaunchCooperativeKernel(kernel, dim3(2), dim3(THREADS), arguments, 0, 0);
}
static void launch_too_many(void (*kernel)(float *), float *memory) {
    void *arguments[] = {&memory};
    cudaLaunchCooperativeKernel(kernel, dim3(4096), dim3(THREADS), arguments, 0, 0);
}

const WrongKernel wrong_kernels[] = {
    {"adds up", adds_up, launch_alone, cudaSuccess, ""},
    {"adds up without a barrier", adds_up_unmet, launch_alone, cudaErrorLaunchFailure, "a race"},
    {"writes past the end", writes_past_the_end, launch_alone, cudaErrorIllegalAddress, "writes 4 bytes at byte 1024"},
    {"reads past the end", reads_past_the_end, launch_alone, cudaErrorIllegalAddress, "reads 4 bytes at byte 1024"},
    {"reads the host's memory", NULL, launch_on_host, cudaErrorIllegalAddress, "not in the GPU's memory"},
    {"loads across an alignment", loads_across, launch_alone, cudaErrorMisalignedAddress, "not aligned"},
    {"writes from two threads", writes_twice, launch_alone, cudaErrorLaunchFailure, "a race"},
    {"a barrier that half of the block meets", meets_by_half, launch_alone, cudaErrorLaunchFailure, "barrier"},
    {"a grid's barrier in a plain launch", meets_alone, launch_alone, cudaErrorLaunchFailure, "not launched together"},
    {"a grid's barrier", meets_alone, launch_together, cudaErrorLaunchFailure, "a race"}, // both blocks write the same
    {"more blocks together than fit", mails, launch_too_many, cudaErrorCooperativeLaunchTooLarge, ""},
    {"mails", mails, launch_together, cudaSuccess, ""},
    {"mails without a wait", mails_unwaited, launch_together, cudaErrorLaunchFailure, "a race"},
    {"mails without a barrier", mails_unmet, launch_together, cudaErrorLaunchFailure, "a race"},
    {"mails without the writer's fence", mails_unfenced, launch_together, cudaErrorLaunchFailure, "a race"},
    {"mails without the reader's fence", mails_unfenced_there, launch_together, cudaErrorLaunchFailure, "a race"},
};
const int wrong_kernel_count = sizeof wrong_kernels / sizeof *wrong_kernels;
const size_t wrong_kernel_bytes = FLOATS * sizeof(float);
