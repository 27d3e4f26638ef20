#include "adapters/torch/program/frames.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "adapters/seams/python_frame.h"
#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/stopping.h"
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

struct CacheSlot {
  std::uint64_t hash;
  StackId stack;
};

// What is known of a source file, asked of Python once.
struct FileInfo {
  bool user = false;
  bool of_torch = false;
  bool optimizer = false;
  bool scaler = false;
  bool printing = false;
  bool clipping = false;
  bool engine = false;
  bool checkpoint = false;
  bool ops = false;
};

std::string text_of(PyObject* unicode) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(unicode, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return "?";
  }
  return {text, static_cast<std::size_t>(size)};
}

bool is_bookkeeping(PyObject* name) {
  for (const char* text : {"zero_grad", "__init__", "add_param_group"}) {
    if (PyUnicode_CompareWithASCIIString(name, text) == 0) return true;
  }
  return false;
}

PyObject* first_local(const PythonFrame* frame) {
  PyObject* first = local_of(frame, 0);
  // Where a function inside uses it too, it lies in a cell.
  return first != nullptr && PyCell_Check(first) ? PyCell_GET(first) : first;
}

bool is_named(const PythonFrame* frame, const char* name) {
  return PyUnicode_CompareWithASCIIString(code_of(frame)->co_name, name) == 0;
}

// Note [A subclass stands between]
// The __torch_dispatch__ of a tensor subclass or mode is called in the middle of an expression.
// Where it hands the op on, as func(*args), the site is that expression: telling/stack.py says so
// too. What it and its helpers compute themselves is theirs, in the phase of the expression.
bool is_inside_dispatch(const PythonFrame* frame) {
  for (; frame != nullptr; frame = back(frame)) {
    if (is_named(frame, "__torch_dispatch__")) return true;
  }
  return false;
}

bool is_engine(const PythonFrame* frame, const FileInfo& file) {
  return file.engine && is_named(frame, "_engine_run_backward");
}

// What Python knows of source files. All with the GIL held.
class SourceFiles {
 public:
  void configure(const AskOfText& ask, const std::string& torch_folder) {
    const auto keep = [](PyObject*& kept, PyObject* given) {
      Py_XINCREF(given);
      Py_XSETREF(kept, given);
    };
    keep(ask_.is_user_code, ask.is_user_code);
    keep(ask_.spells, ask.spells);
    keep(ask_.given_at, ask.given_at);
    keep(ask_.takes_memory, ask.takes_memory);
    keep(ask_.optimizer_class, ask.optimizer_class);
    torch_folder_ = torch_folder;
    files_.clear();
  }
  [[nodiscard]] const FileInfo& info_of(PyObject* filename);
  [[nodiscard]] bool is_optimizer_step(const PythonFrame* frame) const;
  [[nodiscard]] std::uint32_t number_of_line(PyObject* filename, int line) {
    const auto next = static_cast<std::uint32_t>(lines_.size() + 1);
    return lines_.try_emplace({text_of(filename), line}, next).first->second;
  }
  [[nodiscard]] StackInfo describe(const PythonFrame* frame);
  [[nodiscard]] bool spells(NumberKinds numbers) const;
  [[nodiscard]] std::vector<std::uint32_t> lines_of_names();
  [[nodiscard]] bool takes_memory(const std::vector<RawFrame>& frames) const;

 private:
  [[nodiscard]] bool ask_is_user_code(PyObject* filename) const;

  std::map<std::pair<std::string, int>, std::uint32_t> lines_;
  std::unordered_map<std::string, FileInfo> files_;
  AskOfText ask_;
  std::string torch_folder_;
};

bool SourceFiles::ask_is_user_code(PyObject* filename) const {
  if (ask_.is_user_code == nullptr) return true;
  PyObject* const arguments = PyTuple_Pack(1, filename);
  PyObject* const answer = Stopping::ask(ask_.is_user_code, arguments);
  const bool user = answer == nullptr || PyObject_IsTrue(answer) == 1;
  Py_XDECREF(answer);
  Py_XDECREF(arguments);
  return user;
}

bool SourceFiles::spells(NumberKinds numbers) const {
  if (ask_.spells == nullptr) return false;
  PyObject* const arguments = Py_BuildValue("(iii)", numbers.nan, numbers.pos_inf, numbers.neg_inf);
  PyObject* const answer = Stopping::ask(ask_.spells, arguments);
  const bool spelled = answer != nullptr && PyObject_IsTrue(answer) == 1;
  Py_XDECREF(answer);
  Py_XDECREF(arguments);
  return spelled;
}

std::vector<std::uint32_t> SourceFiles::lines_of_names() {
  std::vector<std::uint32_t> lines;
  if (ask_.given_at == nullptr) return lines;
  PyObject* const arguments = PyTuple_New(0);
  PyObject* const answer = Stopping::ask(ask_.given_at, arguments);
  const Py_ssize_t count = answer != nullptr && PyList_Check(answer) ? PyList_GET_SIZE(answer) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* file = nullptr;
    int line = 0;
    if (PyArg_ParseTuple(PyList_GET_ITEM(answer, i), "Ui", &file, &line) != 0)
      lines.push_back(number_of_line(file, line));
    else
      PyErr_Clear();
  }
  Py_XDECREF(answer);
  Py_XDECREF(arguments);
  return lines;
}

bool SourceFiles::takes_memory(const std::vector<RawFrame>& frames) const {
  if (ask_.takes_memory == nullptr) return true;
  PyObject* const list = PyList_New(0);
  for (const RawFrame& frame : frames) {
    PyObject* const pair = Py_BuildValue("(Oi)", frame.code, frame.lasti);
    PyList_Append(list, pair);
    Py_XDECREF(pair);
  }
  PyObject* const arguments = PyTuple_Pack(1, list);
  PyObject* const answer = Stopping::ask(ask_.takes_memory, arguments);
  const bool takes = answer == nullptr || PyObject_IsTrue(answer) == 1;
  Py_XDECREF(answer);
  Py_XDECREF(arguments);
  Py_XDECREF(list);
  return takes;
}

const FileInfo& SourceFiles::info_of(PyObject* filename) {
  const std::string path = text_of(filename);
  const auto found = files_.find(path);
  if (found != files_.end()) return found->second;
  FileInfo info;
  if (!torch_folder_.empty() && path.starts_with(torch_folder_)) {
    const std::string_view inside = std::string_view(path).substr(torch_folder_.size());
    info.of_torch = true;
    info.optimizer = inside.starts_with("optim/");
    info.scaler = inside == "amp/grad_scaler.py" || inside.ends_with("/sharded_grad_scaler.py");
    info.printing = inside == "_tensor_str.py";
    info.clipping = inside == "nn/utils/clip_grad.py";
    info.engine = inside == "autograd/graph.py";
    info.checkpoint = inside == "utils/checkpoint.py";
    info.ops = inside == "_ops.py";
  } else {
    info.user = ask_is_user_code(filename);
    // A compiled region is computed again while a backward runs: Note [Compiled regions].
    info.checkpoint = path.ends_with("/nanscope/compiled/forward_again.py");
  }
  return files_.emplace(path, info).first->second;
}

bool SourceFiles::is_optimizer_step(const PythonFrame* frame) const {
  if (ask_.optimizer_class == nullptr || code_of(frame)->co_argcount == 0) return false;
  if (!is_named(frame, "step")) return false;
  PyObject* self = first_local(frame);
  const int answer = self == nullptr ? 0 : PyObject_IsInstance(self, ask_.optimizer_class);
  PyErr_Clear();
  return answer == 1;
}

// From the op outwards to the user's innermost frame: what lies between tells the phase. Beyond
// it: is that code called by the engine, and if so by a checkpoint that computes again?
StackInfo SourceFiles::describe(const PythonFrame* frame) {
  StackInfo info;
  bool engine_passed = false;
  bool checkpoint = false;
  bool calls_op = false;  // the frame inside is torch.ops'
  if (frame != nullptr) info.by_engine = is_engine(frame, info_of(code_of(frame)->co_filename));
  for (; frame != nullptr; frame = back(frame)) {
    PyCodeObject* code = code_of(frame);
    const FileInfo& file = info_of(code->co_filename);
    checkpoint |= file.checkpoint;
    info.optimizer |= (file.optimizer && !is_bookkeeping(code->co_name)) || file.clipping ||
                      is_optimizer_step(frame);
    info.in_scaler |= file.scaler;
    info.printing |= file.printing;
    engine_passed |= is_engine(frame, file);
    const bool hands_on =
        std::exchange(calls_op, file.ops) && is_named(frame, "__torch_dispatch__");
    if (!file.user || hands_on) continue;
    if (info.line == 0) {
      info.line = number_of_line(code->co_filename, PyCode_Addr2Line(code, lasti_of(frame)));
    }
    if (!is_inside_dispatch(frame)) break;
  }
  for (; frame != nullptr && !engine_passed && !info.inside_backward; frame = back(frame)) {
    const FileInfo& file = info_of(code_of(frame)->co_filename);
    checkpoint |= file.checkpoint;
    info.inside_backward = is_engine(frame, file);
  }
  info.in_engine = engine_passed;
  info.in_checkpoint = checkpoint;
  info.recomputes = info.inside_backward && checkpoint;
  return info;
}

}  // namespace

// The stacks seen, as numbers.
class Stacks {
 public:
  static Stacks& get() {
    static auto& all = *new Stacks;
    return all;
  }

  void configure(const AskOfText& ask, const std::string& torch_folder) {
    files_.configure(ask, torch_folder);
    forward_name_ = PyUnicode_InternFromString("forward");
  }
  // With the GIL held.
  [[nodiscard]] SourceFiles& files() noexcept { return files_; }
  [[nodiscard]] StackId current();
  [[nodiscard]] StackId past(const std::vector<RawFrame>& frames);
  [[nodiscard]] StackInfo info_of(StackId stack) {
    const std::lock_guard guard(lock_);
    return stack < stacks_.size() ? stacks_[stack].info : StackInfo{};
  }
  [[nodiscard]] std::vector<RawFrame> frames_of(StackId stack) {
    const std::lock_guard guard(lock_);
    return stack < stacks_.size() ? stacks_[stack].frames : std::vector<RawFrame>{};
  }
  [[nodiscard]] bool is_scaler_seen() const noexcept {
    return scaler_seen_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t lost() {
    const std::lock_guard guard(lock_);
    return lost_;
  }

 private:
  [[nodiscard]] const void* self_of(const PythonFrame* frame) const;
  [[nodiscard]] std::uint64_t hash(const PythonFrame* frame) const;
  [[nodiscard]] Stack read(const PythonFrame* innermost);
  [[nodiscard]] StackId intern(const PythonFrame* innermost, std::uint64_t hash);

  Lock lock_{LockRank::kFrames};
  std::deque<Stack> stacks_{1};
  std::unordered_map<std::uint64_t, StackId> by_hash_;
  std::uint64_t lost_ = 0;
  std::atomic<bool> scaler_seen_{false};
  SourceFiles files_;                 // with the GIL held
  PyObject* forward_name_ = nullptr;  // set before anything is watched
};

const void* Stacks::self_of(const PythonFrame* frame) const {
  const bool has_self =
      code_of(frame)->co_name == forward_name_ && code_of(frame)->co_argcount != 0;
  return has_self ? first_local(frame) : nullptr;
}

// The instruction is an address inside the code object: it names code and instruction at once.
std::uint64_t Stacks::hash(const PythonFrame* frame) const {
  std::uint64_t hash = 0;
  for (; frame != nullptr; frame = back(frame)) {
    hash = (hash ^ reinterpret_cast<std::uint64_t>(instruction_of(frame))) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
    if (const void* self = self_of(frame)) hash += reinterpret_cast<std::uint64_t>(self);
  }
  return hash | 1;
}

Stack Stacks::read(const PythonFrame* innermost) {
  Stack stack;
  stack.info = files_.describe(innermost);
  for (const auto* frame = innermost; frame != nullptr; frame = back(frame)) {
    if (stack.frames.size() == kMostFrames) break;
    Py_INCREF(code_of(frame));  // for ever; bounded by the number of stacks
    stack.frames.push_back(
        {reinterpret_cast<PyObject*>(code_of(frame)), lasti_of(frame), self_of(frame)});
  }
  return stack;
}

StackId Stacks::intern(const PythonFrame* innermost, std::uint64_t hash) {
  // A thread that asks for the GIL now would be ended here, inside noexcept code.
  if (is_finalizing()) return 0;
  const PyGILState_STATE gil = PyGILState_Ensure();
  StackId id = 0;
  {
    std::unique_lock guard(lock_);
    const auto found = by_hash_.find(hash);
    if (found != by_hash_.end()) {
      id = found->second;
    } else if (stacks_.size() >= kMostStacks) {
      ++lost_;
    } else {
      guard.unlock();  // describing asks Python, which may switch threads
      Stack stack = read(innermost);
      guard.lock();
      id = static_cast<StackId>(stacks_.size());
      if (stack.info.in_scaler) scaler_seen_.store(true, std::memory_order_relaxed);
      stacks_.push_back(std::move(stack));
      by_hash_.emplace(hash, id);
    }
  }
  PyGILState_Release(gil);
  return id;
}

StackId Stacks::past(const std::vector<RawFrame>& frames) {
  Stack stack;
  for (const RawFrame& frame : frames) {
    auto* code = reinterpret_cast<PyCodeObject*>(frame.code);
    if (stack.frames.size() == kMostFrames) break;
    Py_INCREF(code);
    stack.frames.push_back(frame);
    if (stack.info.line == 0 && files_.info_of(code->co_filename).user) {
      stack.info.line =
          files_.number_of_line(code->co_filename, PyCode_Addr2Line(code, frame.lasti));
    }
  }
  if (stack.frames.empty()) return 0;
  const std::lock_guard guard(lock_);
  stacks_.push_back(std::move(stack));
  return static_cast<StackId>(stacks_.size() - 1);
}

StackId Stacks::current() {
  const PythonFrame* frame = innermost_frame();
  if (frame == nullptr) return 0;
  const std::uint64_t hashed = hash(frame);
  void*& known = this_thread().known_stacks_;
  if (known == nullptr) known = calloc(kCacheSlots, sizeof(CacheSlot));
  CacheSlot& slot = static_cast<CacheSlot*>(known)[(hashed >> 20) & (kCacheSlots - 1)];
  if (slot.hash != hashed) slot = {hashed, intern(frame, hashed)};
  return slot.stack;
}

void configure_frames(const AskOfText& ask, const std::string& torch_folder) {
  Stacks::get().configure(ask, torch_folder);
}

bool is_spelled(NumberKinds numbers) {
  const PyGILState_STATE gil = PyGILState_Ensure();
  const Busy busy;
  const bool spelled = Stacks::get().files().spells(numbers);
  PyGILState_Release(gil);
  return spelled;
}

std::vector<std::uint32_t> lines_of_names() {
  const PyGILState_STATE gil = PyGILState_Ensure();
  std::vector<std::uint32_t> lines;
  {
    const Busy busy;
    lines = Stacks::get().files().lines_of_names();
  }
  PyGILState_Release(gil);
  return lines;
}

bool takes_memory(StackId stack) {
  const std::vector<RawFrame> frames = frames_of(stack);
  const PyGILState_STATE gil = PyGILState_Ensure();
  const Busy busy;
  const bool takes = Stacks::get().files().takes_memory(frames);
  PyGILState_Release(gil);
  return takes;
}

bool is_called_by_torch() {
  const PythonFrame* frame = innermost_frame();
  return frame != nullptr && Stacks::get().files().info_of(code_of(frame)->co_filename).of_torch;
}

StackId past_stack(const std::vector<RawFrame>& frames) { return Stacks::get().past(frames); }
StackId current_stack() { return Stacks::get().current(); }
StackInfo info_of(StackId stack) { return Stacks::get().info_of(stack); }
std::vector<RawFrame> frames_of(StackId stack) { return Stacks::get().frames_of(stack); }
bool is_scaler_seen() { return Stacks::get().is_scaler_seen(); }
std::uint64_t stacks_lost() { return Stacks::get().lost(); }

}  // namespace nanscope::torch_adapter
