// What the CUDA kernels of this project use of the language, for a C++ compiler: every thread of a block is a thread here.
#include <barrier>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#define __global__
#define __device__ static
#define __shared__ static

struct Position { int x, y; };
static thread_local Position threadIdx, blockIdx;
static Position blockDim, gridDim;

static std::unique_ptr<std::barrier<>> whole;
static std::vector<std::unique_ptr<std::barrier<>>> warps;
static std::vector<float> lanes;

static int thread_number() { return threadIdx.y * blockDim.x + threadIdx.x; }
static void __syncthreads() { whole->arrive_and_wait(); }

static float __shfl_xor_sync(unsigned, float value, int step) {
    const int number = thread_number();
    auto& warp = *warps[number / 32];
    lanes[number] = value;
    warp.arrive_and_wait();
    const float other = lanes[number ^ step];
    warp.arrive_and_wait();
    return other;
}

static float __int_as_float(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
static float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
template <typename A, typename B> static std::common_type_t<A, B> min(A a, B b) { return a < b ? a : b; }
template <typename A, typename B> static std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }

// Blocks come one after another: what they share is static.
template <typename Kernel> static void run(Position grid, Position block, Kernel kernel) {
    const int count = block.x * block.y;
    gridDim = grid;
    blockDim = block;
    whole = std::make_unique<std::barrier<>>(count);
    warps.clear();
    for (int first = 0; first < count; first += 32)
        warps.push_back(std::make_unique<std::barrier<>>(std::min(32, count - first)));
    lanes.assign(count, 0.0f);
    std::vector<std::thread> threads;
    for (int number = 0; number < count; ++number)
        threads.emplace_back([=] {
            threadIdx = {number % block.x, number / block.x};
            for (int y = 0; y < grid.y; ++y)
                for (int x = 0; x < grid.x; ++x) {
                    blockIdx = {x, y};
                    kernel();
                    whole->arrive_and_wait();
                }
        });
    for (auto& thread : threads) thread.join();
}
