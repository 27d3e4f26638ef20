// CPython 3.11 only; CMake and support.py refuse any other.
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include "adapters/torch/program/frames.h"
#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostStacks = 1 << 17;
constexpr std::size_t kMostFrames = 128;  // of one stack; the innermost are kept
constexpr std::uint32_t kCacheSlots = 1 << 12;

struct Stack {
  std::vector<RawFrame> frames;
  StackInfo info;
};

// What is known of a source file, asked of Python once.
struct FileInfo {
  bool user = false;
  bool optimizer = false;
  bool scaler = false;
  bool printing = false;
  bool clipping = false;
  bool engine = false;
  bool checkpoint = false;
};

struct Tables {
  Lock lock{LockRank::kFrames};
  std::deque<Stack> stacks{1};
  std::unordered_map<std::uint64_t, StackId> by_hash;
  std::map<std::pair<std::string, int>, std::uint32_t> lines;
  std::unordered_map<std::string, FileInfo> files;  // under the GIL
  PyObject* is_user_code = nullptr;
  PyObject* optimizer_class = nullptr;
  PyObject* forward_name = nullptr;
  std::string torch_folder;
  std::uint64_t lost = 0;
};

Tables& tables() {
  static auto& all = *new Tables;
  return all;
}

struct CacheSlot {
  std::uint64_t hash;
  StackId stack;
};

_PyInterpreterFrame* innermost_frame() {
  const PyThreadState* thread = PyGILState_GetThisThreadState();
  return thread != nullptr && thread->cframe != nullptr ? thread->cframe->current_frame : nullptr;
}

const void* self_of(const _PyInterpreterFrame* frame) {
  if (frame->f_code->co_name != tables().forward_name || frame->f_code->co_argcount == 0)
    return nullptr;
  PyObject* self = frame->localsplus[0];
  // A function inside `forward` uses `self` too: then it lies in a cell.
  return self != nullptr && PyCell_Check(self) ? PyCell_GET(self) : self;
}

// prev_instr is an address inside the code object: it names code and instruction at once.
std::uint64_t hash_frames(const _PyInterpreterFrame* frame) {
  std::uint64_t hash = 0;
  for (; frame != nullptr; frame = frame->previous) {
    hash = (hash ^ reinterpret_cast<std::uint64_t>(frame->prev_instr)) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
    if (const void* self = self_of(frame)) hash += reinterpret_cast<std::uint64_t>(self);
  }
  return hash | 1;
}

std::string text_of(PyObject* unicode) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(unicode, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return "?";
  }
  return {text, static_cast<std::size_t>(size)};
}

bool ask_is_user_code(PyObject* filename) {
  Tables& all = tables();
  if (all.is_user_code == nullptr) return true;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* answer = PyObject_CallOneArg(all.is_user_code, filename);
  const bool user = answer == nullptr || PyObject_IsTrue(answer) == 1;
  Py_XDECREF(answer);
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
  return user;
}

const FileInfo& file_info(PyObject* filename) {
  Tables& all = tables();
  const std::string path = text_of(filename);
  const auto found = all.files.find(path);
  if (found != all.files.end()) return found->second;
  FileInfo info;
  if (!all.torch_folder.empty() && path.starts_with(all.torch_folder)) {
    const std::string_view inside = std::string_view(path).substr(all.torch_folder.size());
    info.optimizer = inside.starts_with("optim/");
    info.scaler = inside == "amp/grad_scaler.py" || inside.ends_with("/sharded_grad_scaler.py");
    info.printing = inside == "_tensor_str.py";
    info.clipping = inside == "nn/utils/clip_grad.py";
    info.engine = inside == "autograd/graph.py";
    info.checkpoint = inside == "utils/checkpoint.py";
  } else {
    info.user = ask_is_user_code(filename);
  }
  return all.files.emplace(path, info).first->second;
}

bool is_optimizer_step(const _PyInterpreterFrame* frame) {
  Tables& all = tables();
  if (all.optimizer_class == nullptr || frame->f_code->co_argcount == 0) return false;
  if (PyUnicode_CompareWithASCIIString(frame->f_code->co_name, "step") != 0) return false;
  PyObject* self = frame->localsplus[0];
  if (self != nullptr && PyCell_Check(self)) self = PyCell_GET(self);
  const int answer = self == nullptr ? 0 : PyObject_IsInstance(self, all.optimizer_class);
  PyErr_Clear();
  return answer == 1;
}

bool is_bookkeeping(PyObject* name) {
  for (const char* text : {"zero_grad", "__init__", "add_param_group"}) {
    if (PyUnicode_CompareWithASCIIString(name, text) == 0) return true;
  }
  return false;
}

std::uint32_t number_of_line(PyObject* filename, int line) {
  auto& lines = tables().lines;
  return lines.try_emplace({text_of(filename), line}, static_cast<std::uint32_t>(lines.size() + 1))
      .first->second;
}

bool is_engine(const _PyInterpreterFrame* frame, const FileInfo& file) {
  return file.engine &&
         PyUnicode_CompareWithASCIIString(frame->f_code->co_name, "_engine_run_backward") == 0;
}

// From the op outwards to the user's innermost frame: what lies between tells the phase. Beyond
// it: is that code called by the engine, and if so by a checkpoint that computes again?
StackInfo describe(const _PyInterpreterFrame* frame) {
  StackInfo info;
  bool engine_passed = false;
  bool checkpoint = false;
  for (; frame != nullptr; frame = frame->previous) {
    PyCodeObject* code = frame->f_code;
    const FileInfo& file = file_info(code->co_filename);
    checkpoint |= file.checkpoint;
    info.optimizer |= (file.optimizer && !is_bookkeeping(code->co_name)) || file.clipping ||
                      is_optimizer_step(frame);
    info.in_scaler |= file.scaler;
    info.printing |= file.printing;
    engine_passed |= is_engine(frame, file);
    if (file.user) {
      info.line = number_of_line(code->co_filename,
                                 PyCode_Addr2Line(code, _PyInterpreterFrame_LASTI(frame) * 2));
      break;
    }
  }
  for (; frame != nullptr && !engine_passed && !info.inside_backward; frame = frame->previous) {
    const FileInfo& file = file_info(frame->f_code->co_filename);
    checkpoint |= file.checkpoint;
    info.inside_backward = is_engine(frame, file);
  }
  info.recomputes = info.inside_backward && checkpoint;
  return info;
}

StackId intern(const _PyInterpreterFrame* innermost, std::uint64_t hash) {
  // A thread that asks for the GIL now would be ended here, inside noexcept code.
  if (_Py_IsFinalizing()) return 0;
  const PyGILState_STATE gil = PyGILState_Ensure();
  Tables& all = tables();
  StackId id = 0;
  {
    std::unique_lock guard(all.lock);
    const auto found = all.by_hash.find(hash);
    if (found != all.by_hash.end()) {
      id = found->second;
    } else if (all.stacks.size() >= kMostStacks) {
      ++all.lost;
    } else {
      guard.unlock();  // describing asks Python, which may switch threads
      Stack stack;
      stack.info = describe(innermost);
      for (const auto* frame = innermost; frame != nullptr; frame = frame->previous) {
        if (stack.frames.size() == kMostFrames) break;
        Py_INCREF(frame->f_code);  // for ever; bounded by the number of stacks
        stack.frames.push_back(
            {reinterpret_cast<PyObject*>(frame->f_code),
             static_cast<int>(_PyInterpreterFrame_LASTI(frame) * sizeof(_Py_CODEUNIT)),
             self_of(frame)});
      }
      guard.lock();
      id = static_cast<StackId>(all.stacks.size());
      all.stacks.push_back(std::move(stack));
      all.by_hash.emplace(hash, id);
    }
  }
  PyGILState_Release(gil);
  return id;
}

}  // namespace

void configure_frames(PyObject* is_user_code, PyObject* optimizer_class,
                      const std::string& torch_folder) {
  Tables& all = tables();
  Py_XINCREF(is_user_code);
  Py_XINCREF(optimizer_class);
  Py_XSETREF(all.is_user_code, is_user_code);
  Py_XSETREF(all.optimizer_class, optimizer_class);
  all.torch_folder = torch_folder;
  all.forward_name = PyUnicode_InternFromString("forward");
  all.files.clear();
}

StackId past_stack(const std::vector<RawFrame>& frames) {
  Stack stack;
  for (const RawFrame& frame : frames) {
    auto* code = reinterpret_cast<PyCodeObject*>(frame.code);
    if (stack.frames.size() == kMostFrames) break;
    Py_INCREF(code);
    stack.frames.push_back(frame);
    if (stack.info.line == 0 && file_info(code->co_filename).user) {
      stack.info.line = number_of_line(code->co_filename, PyCode_Addr2Line(code, frame.lasti));
    }
  }
  if (stack.frames.empty()) return 0;
  Tables& all = tables();
  const std::lock_guard guard(all.lock);
  all.stacks.push_back(std::move(stack));
  return static_cast<StackId>(all.stacks.size() - 1);
}

StackId current_stack() {
  const _PyInterpreterFrame* frame = innermost_frame();
  if (frame == nullptr) return 0;
  const std::uint64_t hash = hash_frames(frame);
  void*& known = this_thread().known_stacks;
  if (known == nullptr) known = calloc(kCacheSlots, sizeof(CacheSlot));
  CacheSlot& slot = static_cast<CacheSlot*>(known)[(hash >> 20) & (kCacheSlots - 1)];
  if (slot.hash != hash) slot = {hash, intern(frame, hash)};
  return slot.stack;
}

StackInfo info_of(StackId stack) {
  Tables& all = tables();
  const std::lock_guard guard(all.lock);
  return stack < all.stacks.size() ? all.stacks[stack].info : StackInfo{};
}

std::vector<RawFrame> frames_of(StackId stack) {
  Tables& all = tables();
  const std::lock_guard guard(all.lock);
  return stack < all.stacks.size() ? all.stacks[stack].frames : std::vector<RawFrame>{};
}

std::uint64_t stacks_lost() noexcept { return tables().lost; }

}  // namespace nanscope::torch_adapter
