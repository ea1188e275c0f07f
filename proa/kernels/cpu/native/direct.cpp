// Calls a kernel without XLA: the call frame that XLA would make is made here, for arrays that lie in the host's memory, with
// a small pool of threads in the place of XLA's. Used where a single operation is run at once and nothing shall be compiled.
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "xla/ffi/api/c_api.h"

struct XLA_FFI_Error {
  std::string message;
  XLA_FFI_Error_Code code;
};

namespace proa {
namespace {

std::atomic<int64_t> wanted_threads{0};

// How many threads the pool shall have, the caller's among them. PROA_NATIVE_THREADS bounds them: workers of a data loader set
// it to 1, and start none.
int64_t threads_to_start() {
  const int64_t wanted = wanted_threads.load();
  const int64_t count = wanted > 0 ? wanted : std::thread::hardware_concurrency();
  const char* text = std::getenv("PROA_NATIVE_THREADS");
  const int64_t limit = text ? std::atoi(text) : 0;
  return limit > 0 && limit < count ? limit : count;
}

// Threads that wait for work as long as the process lives. A forked child has none of them, and works alone.
class Pool {
 public:
  Pool() : owner_(getpid()) {
    sem_init(&waiting_, 0, 0);
    const int64_t threads = threads_to_start();
    for (int64_t i = 1; i < threads; i++) {
      std::thread([this] { run(); }).detach();
      count_++;
    }
  }
  int64_t count() const { return getpid() == owner_ ? count_ + 1 : 1; }
  void schedule(XLA_FFI_Task* task, void* data) {
    if (count() == 1) return task(data);
    {
      std::lock_guard<std::mutex> held(lock_);
      tasks_.push_back({task, data});
    }
    sem_post(&waiting_);
  }

 private:
  struct Task {
    XLA_FFI_Task* run;
    void* data;
  };
  void run() {
    for (;;) {
      while (sem_wait(&waiting_) != 0) continue;  // a signal came
      Task task;
      {
        std::lock_guard<std::mutex> held(lock_);
        task = tasks_.front();
        tasks_.pop_front();
      }
      task.run(task.data);
    }
  }
  pid_t owner_;
  int64_t count_ = 0;
  std::mutex lock_;
  sem_t waiting_;  // tasks; the C++ library's condition variables would need a newer system than all else here
  std::deque<Task> tasks_;
};

Pool& pool() {
  static Pool* all = new Pool;  // never destroyed: its threads may still wait when the process ends
  return *all;
}

XLA_FFI_Error* create_error(XLA_FFI_Error_Create_Args* args) { return new XLA_FFI_Error{args->message, args->errc}; }
void message_of(XLA_FFI_Error_GetMessage_Args* args) { args->message = args->error->message.c_str(); }
void destroy_error(XLA_FFI_Error_Destroy_Args* args) { delete args->error; }
XLA_FFI_Error* schedule(XLA_FFI_ThreadPool_Schedule_Args* args) {
  pool().schedule(args->task, args->data);
  return nullptr;
}
XLA_FFI_Error* num_threads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  *args->num_threads = pool().count();
  return nullptr;
}

const XLA_FFI_Api* api() {
  static const XLA_FFI_Api* made = [] {
    auto* all = new XLA_FFI_Api();  // what kernels do not use stays null
    all->struct_size = XLA_FFI_Api_STRUCT_SIZE;
    all->api_version.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE;
    all->api_version.major_version = XLA_FFI_API_MAJOR;
    all->api_version.minor_version = XLA_FFI_API_MINOR;
    all->XLA_FFI_Error_Create = create_error;
    all->XLA_FFI_Error_GetMessage = message_of;
    all->XLA_FFI_Error_Destroy = destroy_error;
    all->XLA_FFI_ThreadPool_Schedule = schedule;
    all->XLA_FFI_ThreadPool_NumThreads = num_threads;
    return all;
  }();
  return made;
}

}  // namespace
}  // namespace proa

// To be called before the first kernel: how many threads work on one.
extern "C" void proa_use_threads(int64_t count) { proa::wanted_threads = count; }

// `numbers`: how many operands, results and attributes there are; of each array its dtype, rank and dimensions; of each
// attribute its type, dtype, length of its name, how many numbers it has, and these. `names`: the attributes' names in a row,
// sorted. Gives what is wrong, or null.
extern "C" const char* proa_call_directly(XLA_FFI_Handler* handler, const int64_t* numbers, void** data, const char* names) {
  static thread_local std::string problem;
  const int64_t operands = *numbers++, results = *numbers++, attributes = *numbers++;
  std::vector<XLA_FFI_Buffer> buffers(operands + results);
  std::vector<void*> pointers(operands + results);
  for (int64_t i = 0; i < operands + results; i++) {
    XLA_FFI_Buffer& one = buffers[i];
    one.struct_size = XLA_FFI_Buffer_STRUCT_SIZE;
    one.extension_start = nullptr;
    one.dtype = static_cast<XLA_FFI_DataType>(*numbers++);
    one.data = data[i];
    one.rank = *numbers++;
    one.dims = const_cast<int64_t*>(numbers);
    numbers += one.rank;
    pointers[i] = &one;
  }
  std::vector<XLA_FFI_ArgType> operand_types(operands, XLA_FFI_ArgType_BUFFER);
  std::vector<XLA_FFI_RetType> result_types(results, XLA_FFI_RetType_BUFFER);
  std::vector<XLA_FFI_AttrType> types(attributes);
  std::vector<XLA_FFI_ByteSpan> spans(attributes);
  std::vector<XLA_FFI_ByteSpan*> span_pointers(attributes);
  std::vector<XLA_FFI_Scalar> scalars(attributes);
  std::vector<XLA_FFI_Array> arrays(attributes);
  std::vector<void*> values(attributes);
  for (int64_t i = 0; i < attributes; i++) {
    types[i] = static_cast<XLA_FFI_AttrType>(*numbers++);
    const auto dtype = static_cast<XLA_FFI_DataType>(*numbers++);
    spans[i] = {names, static_cast<size_t>(*numbers)};
    names += *numbers++;
    span_pointers[i] = &spans[i];
    const int64_t count = *numbers++;
    void* first = const_cast<int64_t*>(numbers);
    numbers += count;
    scalars[i] = {dtype, first};
    arrays[i] = {dtype, static_cast<size_t>(count), first};
    values[i] = types[i] == XLA_FFI_AttrType_ARRAY ? static_cast<void*>(&arrays[i]) : static_cast<void*>(&scalars[i]);
  }
  XLA_FFI_CallFrame frame;
  std::memset(&frame, 0, sizeof(frame));
  frame.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE;
  frame.api = proa::api();
  frame.stage = XLA_FFI_ExecutionStage_EXECUTE;
  frame.args = {XLA_FFI_Args_STRUCT_SIZE, nullptr, operands, operand_types.data(), pointers.data()};
  frame.rets = {XLA_FFI_Rets_STRUCT_SIZE, nullptr, results, result_types.data(), pointers.data() + operands};
  frame.attrs = {XLA_FFI_Attrs_STRUCT_SIZE, nullptr, attributes, types.data(), span_pointers.data(), values.data()};
  XLA_FFI_Error* error = handler(&frame);
  if (error == nullptr) return nullptr;
  problem = error->message;
  delete error;
  return problem.c_str();
}
