// CUDA's driver and compiler, without CUDA: what nanscope asks of them, each argument checked.
//
// A "cubin" says which type and architecture it was compiled for; a launch runs the text of the
// kernel on an emulated grid (fake_grid.h), late: when somebody waits for the stream. The addresses
// of the device's memory and of pinned memory are not those of the host, so that a mixed-up
// pointer is found; tensors have those of the host. A test asks for what is wrong, and for what is
// still alive. With a device of the tests' own, it runs kernels in that device's stream.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fake_grid.h"

namespace fake_cuda {
namespace {

using Address = unsigned long long;

constexpr int kInvalidValue = 1;
constexpr int kNoContext = 201;
constexpr int kWrongBinary = 209;
constexpr int kInvalidHandle = 400;
constexpr Address kOfDevice = Address{1} << 56;  // added to addresses of the host
constexpr Address kPinned = Address{1} << 57;

struct Program {
  std::string cubin;
  std::string log;
};
struct Module {
  std::string type;
};
struct Function {
  Module* module = nullptr;
  bool dense = false;
};

struct Outside {  // a device of the tests' own
  void* (*to_kernel)(void*) = nullptr;
  void (*put)(void (*)(void*), void*) = nullptr;
  void (*wait)() = nullptr;
};

struct State {
  std::recursive_mutex lock;
  std::string wrong;  // what was asked for wrongly, the first time
  std::string fails;  // the function that is to fail
  int architecture = 90;
  bool has_context = true;
  std::set<Program*> programs;
  std::set<Module*> modules;
  std::map<Function*, std::unique_ptr<Function>> functions;
  std::map<char*, std::size_t> device_memory, pinned;
  std::map<void*, std::deque<std::function<void()>>> streams;
  unsigned long long launched = 0, compiled = 0;
  unsigned most_blocks = 0;
  Outside outside;
};
State& state() {
  static auto& all = *new State;
  return all;
}

// All that was launched runs; to give memory back waits for it.
void run_all() {
  auto streams = std::move(state().streams);
  state().streams.clear();
  for (const auto& [stream, tasks] : streams) {
    for (const auto& task : tasks) task();
  }
}

int wrong(const std::string& what, int status = kInvalidValue) {
  if (state().wrong.empty()) state().wrong = what;
  return status;
}

bool is_to_fail(const char* name) { return state().fails == name; }

char* inside(const std::map<char*, std::size_t>& memory, Address address, std::size_t bytes) {
  auto* const place = reinterpret_cast<char*>(address);
  auto after = memory.upper_bound(place);
  if (after == memory.begin()) return nullptr;
  --after;
  return place + bytes <= after->first + after->second ? place : nullptr;
}

void* allocate(std::map<char*, std::size_t>& memory, std::size_t bytes) {
  auto* const place = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(place, 0x5a, bytes);  // fresh memory holds anything
  memory[place] = bytes;
  return place;
}

// What a launch was given; the driver copies it before the call returns.
struct Arguments {
  char* data;
  unsigned long long count;
  of_F32::Shape shape;
  unsigned* slot;
  unsigned long long* home;
  unsigned number;
};

void run(const Function& function, unsigned blocks, unsigned threads, Arguments a) {
  if (state().outside.to_kernel != nullptr)
    a.data = static_cast<char*>(state().outside.to_kernel(a.data));
  const std::string& type = function.module->type;
  const auto with = [&](auto dense, auto strided, auto shape) {
    std::memcpy(&shape, &a.shape, sizeof shape);
    Grid::get().run(blocks, threads, [&] {
      if (function.dense)
        dense(a.data, a.count, a.slot, a.home, a.number);
      else
        strided(a.data, a.count, shape, a.slot, a.home, a.number);
    });
  };
  if (type == "F32") with(of_F32::dense_F32, of_F32::strided_F32, of_F32::Shape());
  if (type == "F64") with(of_F64::dense_F64, of_F64::strided_F64, of_F64::Shape());
  if (type == "F16") with(of_F16::dense_F16, of_F16::strided_F16, of_F16::Shape());
  if (type == "F8") with(of_F8::dense_F8, of_F8::strided_F8, of_F8::Shape());
  if (type == "FNUZ") with(of_FNUZ::dense_FNUZ, of_FNUZ::strided_FNUZ, of_FNUZ::Shape());
  if (type == "E8M0") with(of_E8M0::dense_E8M0, of_E8M0::strided_E8M0, of_E8M0::Shape());
  if (a.slot[0] != 0 || a.slot[1] != 0) wrong("a slot is not zero after a launch");
}

}  // namespace
}  // namespace fake_cuda

using fake_cuda::Address;
using fake_cuda::state;
using fake_cuda::wrong;
#define FAKE extern "C" __attribute__((visibility("default")))
#define GUARD const std::lock_guard guard(state().lock)

// ---------------------------------------------------------------- the driver
FAKE int cuGetErrorString(int, const char** words) {
  *words = "an error of the fake driver";
  return 0;
}
FAKE int cuCtxGetCurrent(void** context) {
  *context = state().has_context ? &state() : nullptr;
  return 0;
}
FAKE int cuCtxGetDevice(int* device) {
  if (!state().has_context) return fake_cuda::kNoContext;
  *device = 0;
  return 0;
}
FAKE int cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (device != 0) return wrong("another device");
  switch (attribute) {
    case 16:
      *value = 3;
      return 0;
    case 75:
      *value = state().architecture / 10;
      return 0;
    case 76:
      *value = state().architecture % 10;
      return 0;
    default:
      return wrong("an attribute that nobody needs");
  }
}
FAKE int cuModuleLoadData(void** module, const void* image) {
  GUARD;
  if (fake_cuda::is_to_fail("cuModuleLoadData")) return fake_cuda::kWrongBinary;
  char type[16];
  int architecture = 0;
  if (std::sscanf(static_cast<const char*>(image),
                  "\x7f"
                  "ELF fake sm_%d %15s",
                  &architecture, type) != 2 ||
      architecture != state().architecture)
    return fake_cuda::kWrongBinary;
  auto* const made = new fake_cuda::Module{type};
  state().modules.insert(made);
  *module = made;
  return 0;
}
FAKE int cuModuleUnload(void* module) {
  GUARD;
  auto* const gone = static_cast<fake_cuda::Module*>(module);
  if (state().modules.erase(gone) == 0) return wrong("unloads no module");
  for (const auto& [stream, tasks] : state().streams) {
    if (!tasks.empty()) wrong("unloads a module while kernels wait");
  }
  delete gone;
  return 0;
}
FAKE int cuModuleGetFunction(void** function, void* module, const char* name) {
  GUARD;
  auto* const of = static_cast<fake_cuda::Module*>(module);
  if (state().modules.count(of) == 0) return wrong("a function of no module");
  const std::string asked = name;
  if (asked != "dense" && asked != "strided") return wrong("no such function: " + asked);
  auto made = std::make_unique<fake_cuda::Function>(fake_cuda::Function{of, asked == "dense"});
  *function = made.get();
  state().functions[made.get()] = std::move(made);
  return 0;
}
FAKE int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  GUARD;
  if (fake_cuda::is_to_fail("cuMemAlloc")) return 2;
  *address = reinterpret_cast<Address>(fake_cuda::allocate(state().device_memory, bytes)) +
             fake_cuda::kOfDevice;
  return 0;
}
FAKE int cuMemFree_v2(Address address) {
  GUARD;
  fake_cuda::run_all();
  auto* const place = reinterpret_cast<char*>(address - fake_cuda::kOfDevice);
  if (state().device_memory.erase(place) == 0) return wrong("frees no memory of the device");
  std::free(place);
  return 0;
}
FAKE int cuMemsetD8_v2(Address address, unsigned char value, std::size_t bytes) {
  GUARD;
  char* const place =
      fake_cuda::inside(state().device_memory, address - fake_cuda::kOfDevice, bytes);
  if (place == nullptr) return wrong("sets memory that is not there");
  state().streams[nullptr].push_back([=] { std::memset(place, value, bytes); });
  return 0;
}
FAKE int cuMemHostAlloc(void** place, std::size_t bytes, unsigned flags) {
  GUARD;
  if (fake_cuda::is_to_fail("cuMemHostAlloc")) return 2;
  if (flags != 3) return wrong("pinned memory that no kernel of another context can write");
  *place = fake_cuda::allocate(state().pinned, bytes);
  return 0;
}
FAKE int cuMemFreeHost(void* place) {
  GUARD;
  fake_cuda::run_all();
  if (state().pinned.erase(static_cast<char*>(place)) == 0) return wrong("frees no pinned memory");
  std::free(place);
  return 0;
}
FAKE int cuMemHostGetDevicePointer_v2(Address* address, void* place, unsigned flags) {
  GUARD;
  if (flags != 0 || state().pinned.count(static_cast<char*>(place)) == 0)
    return wrong("asks for the address of no pinned memory");
  *address = reinterpret_cast<Address>(place) + fake_cuda::kPinned;
  return 0;
}
FAKE int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        void* stream, void** parameters, void** extra) {
  GUARD;
  if (fake_cuda::is_to_fail("cuLaunchKernel")) return 700;
  const auto found = state().functions.find(static_cast<fake_cuda::Function*>(function));
  if (found == state().functions.end() || state().modules.count(found->second->module) == 0)
    return wrong("launches no kernel", fake_cuda::kInvalidHandle);
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_x % 32 != 0 ||
      block_x > 1024 || block_y != 1 || block_z != 1 || shared != 0 || extra != nullptr)
    return wrong("a grid of another form");
  const fake_cuda::Function& kernel = *found->second;
  fake_cuda::Arguments a{};
  const int rest = kernel.dense ? 2 : 3;
  std::memcpy(&a.data, parameters[0], sizeof a.data);
  std::memcpy(&a.count, parameters[1], sizeof a.count);
  if (!kernel.dense) std::memcpy(&a.shape, parameters[2], sizeof a.shape);
  Address slot = 0;
  Address home = 0;
  std::memcpy(&slot, parameters[rest], sizeof slot);
  std::memcpy(&home, parameters[rest + 1], sizeof home);
  std::memcpy(&a.number, parameters[rest + 2], sizeof a.number);
  a.slot = reinterpret_cast<unsigned*>(
      fake_cuda::inside(state().device_memory, slot - fake_cuda::kOfDevice, 8));
  a.home = reinterpret_cast<unsigned long long*>(
      fake_cuda::inside(state().pinned, home - fake_cuda::kPinned, 8));
  if (a.data == nullptr || a.count == 0 || a.number == 0) return wrong("a look at nothing");
  if (a.slot == nullptr || a.home == nullptr) return wrong("a place that is not there");
  if (!kernel.dense) {
    if (a.shape.dims < 1 || a.shape.dims > 8) return wrong("a shape of no dimensions");
    unsigned long long elements = 1;
    for (int dim = 0; dim < a.shape.dims; ++dim) elements *= a.shape.size[dim];
    if (elements != a.count) return wrong("a shape of another size");
  }
  ++state().launched;
  if (grid_x > state().most_blocks) state().most_blocks = grid_x;
  auto task = [=, &kernel] { fake_cuda::run(kernel, grid_x, block_x, a); };
  if (state().outside.put == nullptr) {
    state().streams[stream].push_back(std::move(task));
    return 0;
  }
  state().outside.put(
      [](void* given) {
        GUARD;
        auto* const kept = static_cast<std::function<void()>*>(given);
        (*kept)();
        delete kept;
      },
      new std::function<void()>(std::move(task)));
  return 0;
}
FAKE int cuStreamSynchronize(void* stream) {
  if (state().outside.wait != nullptr) state().outside.wait();
  GUARD;
  if (fake_cuda::is_to_fail("cuStreamSynchronize")) return 700;
  std::deque<std::function<void()>> tasks = std::move(state().streams[stream]);
  state().streams.erase(stream);
  for (const auto& task : tasks) task();
  return 0;
}

// ---------------------------------------------------------------- the compiler
FAKE const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_OF_THE_FAKE"; }
FAKE int nvrtcVersion(int* major, int* minor) {
  *major = 0;
  *minor = 1;
  return 0;
}
FAKE int nvrtcCreateProgram(fake_cuda::Program** program, const char* text, const char* name,
                            int headers, const char* const*, const char* const*) {
  GUARD;
  if (headers != 0 || name == nullptr || std::strstr(text, "__global__ void dense(") == nullptr)
    return wrong("a program of another text");
  *program = *state().programs.insert(new fake_cuda::Program).first;
  return 0;
}
FAKE int nvrtcDestroyProgram(fake_cuda::Program** program) {
  GUARD;
  if (state().programs.erase(*program) == 0) return wrong("destroys no program");
  delete *program;
  *program = nullptr;
  return 0;
}
FAKE int nvrtcCompileProgram(fake_cuda::Program* program, int count, const char* const* options) {
  GUARD;
  int architecture = 0;
  std::string type;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    if (option.rfind("-DT=", 0) == 0) type = option.substr(4);
    std::sscanf(options[i], "--gpu-architecture=sm_%d", &architecture);
  }
  if (count != 3 || type.empty()) return wrong("options that nobody needs");
  if (fake_cuda::is_to_fail("nvrtcCompileProgram") || architecture < 75) {
    program->log = "no such architecture\nand more";
    return 5;
  }
  ++state().compiled;
  program->cubin =
      "\x7f"
      "ELF fake sm_" +
      std::to_string(architecture) + " " + type;
  program->cubin.push_back('\0');
  return 0;
}
FAKE int nvrtcGetProgramLogSize(fake_cuda::Program* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
FAKE int nvrtcGetProgramLog(fake_cuda::Program* program, char* text) {
  std::strcpy(text, program->log.c_str());
  return 0;
}
FAKE int nvrtcGetCUBINSize(fake_cuda::Program* program, std::size_t* size) {
  *size = program->cubin.size();
  return 0;
}
FAKE int nvrtcGetCUBIN(fake_cuda::Program* program, char* cubin) {
  std::memcpy(cubin, program->cubin.data(), program->cubin.size());
  return 0;
}

// ---------------------------------------------------------------- for tests
// What was asked for wrongly; empty if nothing.
FAKE const char* fake_cuda_wrong() { return state().wrong.c_str(); }
FAKE void fake_cuda_let_fail(const char* function) { state().fails = function; }
FAKE void fake_cuda_be(int architecture, bool has_context) {
  state().architecture = architecture;
  state().has_context = has_context;
}
FAKE unsigned long long fake_cuda_launched() { return state().launched; }
FAKE unsigned long long fake_cuda_compiled() { return state().compiled; }
FAKE unsigned fake_cuda_most_blocks() { return state().most_blocks; }
// Modules, programs and pieces of memory that were not given back.
FAKE unsigned long long fake_cuda_alive() {
  GUARD;
  return state().modules.size() + state().programs.size() + state().device_memory.size() +
         state().pinned.size();
}
FAKE void fake_cuda_work_on(void* (*to_kernel)(void*), void (*put)(void (*)(void*), void*),
                            void (*wait)()) {
  state().outside = {to_kernel, put, wait};
}
