// The Python module nanscope._torch: sessions and switches. The moments are in python_moments.cc.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "adapters/python/native.h"
#include "adapters/torch/binding/adapter.h"
#include "adapters/torch/binding/python_forks.h"
#include "adapters/torch/binding/python_moments.h"
#include "adapters/torch/binding/python_new_ops.h"
#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/binding/python_sentinel.h"
#include "adapters/torch/binding/python_subclasses.h"
#include "adapters/torch/hit/at_hand.h"
#include "adapters/torch/interpose/install.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/ops/operands.h"
#include "adapters/torch/program/forewarn.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/program/moments.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/session/story.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/ticks.h"
#include "adapters/torch/watch/watcher.h"
#include "records/words.h"

namespace nb = nanobind;
using nanscope::python::Native;

namespace nanscope::torch_adapter {
namespace {

OnError on_error_from(const std::string& word) {
  if (word == "go_on") return OnError::kGoOn;
  return word == "raise" ? OnError::kRaise : OnError::kStop;
}

// Ends the session: its capture, where that is on disk, and what could not be written.
nb::tuple finish(int status, const std::string& ended,
                 const std::vector<std::tuple<std::string, std::string, std::int64_t>>& also) {
  std::vector<NotWatched> not_watched;
  for (const auto& [what, why, count] : also) not_watched.push_back({what, why, count});
  const Busy busy;
  watch_weights();
  SessionEnd end =
      end_session(status, from_word<Ended>(ended).value_or(Ended::kNormally), not_watched);
  return nb::make_tuple(std::move(end.capture), Native{end.capture_path}, end.complaints);
}

void add_session_options(nb::module_& module) {
  nb::class_<SessionOptions>(module, "SessionOptions", "How one session is to be.")
      .def(
          "__init__",
          [](SessionOptions* self, const Native& capture, bool overwrite, bool keep_capture,
             const std::string& on_error, bool strict, const Native& news,
             const std::vector<Native>& argv, const std::string& python, const std::string& torch,
             const Native& host, std::int64_t pid, const std::string& mode) {
            new (self) SessionOptions{.capture_path = capture.bytes,
                                      .overwrite = overwrite,
                                      .keep_capture = keep_capture,
                                      .on_error = on_error_from(on_error),
                                      .strict = strict,
                                      .news = news.bytes,
                                      .program = {}};
            Program& program = self->program;
            for (const Native& argument : argv) program.argv.push_back(argument.bytes);
            program.python = python;
            program.torch = torch;
            program.host = host.bytes;
            program.pid = pid;
            program.mode = mode;
          },
          nb::kw_only(), nb::arg("capture") = "", nb::arg("overwrite") = false,
          nb::arg("keep_capture") = false, nb::arg("on_error") = "stop", nb::arg("strict") = false,
          nb::arg("news") = "", nb::arg("argv") = nb::make_tuple(), nb::arg("python") = "",
          nb::arg("torch") = "", nb::arg("host") = "", nb::arg("pid") = 0,
          nb::arg("mode") = "exact");
  module.def("begin", [](const SessionOptions& options) { begin_session(options); });
}

// What the adapter asks Python while a program runs.
struct Configuration {
  nb::object is_user_code;
  nb::object spells;
  nb::object optimizer;
  std::string torch_folder;
  nb::object describe;
  nb::object name;
  nb::object exception_for;
  std::int64_t steps = 0;
};

void add_configuration(nb::module_& module) {
  nb::class_<Configuration>(module, "Configuration", "Whom to ask while a program runs.")
      .def(
          "__init__",
          [](Configuration* self, nb::object is_user_code, nb::object spells, nb::object optimizer,
             std::string torch_folder, nb::object describe, nb::object name,
             nb::object exception_for, std::int64_t steps) {
            new (self) Configuration{std::move(is_user_code),  std::move(spells),
                                     std::move(optimizer),     std::move(torch_folder),
                                     std::move(describe),      std::move(name),
                                     std::move(exception_for), steps};
          },
          nb::kw_only(), nb::arg("is_user_code"), nb::arg("spells"), nb::arg("optimizer"),
          nb::arg("torch_folder"), nb::arg("describe"), nb::arg("name"), nb::arg("exception_for"),
          nb::arg("steps") = 0);
  module.def("configure", [](const Configuration& ask) {
    configure_frames(ask.is_user_code.ptr(), ask.spells.ptr(), ask.optimizer.ptr(),
                     ask.torch_folder);
    configure_story(ask.describe.ptr(), ask.name.ptr());
    Watcher::get().stopping().configure(ask.exception_for.ptr(), ask.steps);
  });
}

// What tests and bench/ ask of the adapter itself.
void add_measures(nb::module_& module) {
  module.def("check_proofs", [](bool on) { Watcher::get().proofs().check_all(on); });
  module.def("proofs", [] { return Watcher::get().proofs().results(); });
  // For bench/: a level, and what was counted since the level was set.
  module.def("time_parts", [](int level) { ticks.begin(level); });
  module.def("ticks", [] {
    return nb::make_tuple(__rdtsc(),
                          std::vector<std::uint64_t>(ticks.spent().begin(), ticks.spent().end()),
                          std::vector<std::uint64_t>(ticks.times().begin(), ticks.times().end()));
  });
  module.def("counters", [] {
    const Counters counters = Threads::get().counters();
    return nb::make_tuple(counters.ops, counters.bytes);
  });
}

}  // namespace
}  // namespace nanscope::torch_adapter

NB_MODULE(_torch, module) {
  using namespace nanscope;
  using namespace nanscope::torch_adapter;

  nb::set_leak_warnings(false);  // the hooks live as long as the process
  ask_for_wrapped(&wrapped_by);
  Watcher::get().world().ask({.state = &state_by_extent, .facts = &facts_at_hand});
  add_configuration(module);
  add_session_options(module);
  // A watch() block is over: what it gave us is let go of.
  module.def("disconnect", [] {
    configure_story(nullptr, nullptr);
    Watcher::get().stopping().configure(nullptr, 0);
  });
  module.def("install", [] {
    const Installed counts = install_wrappers(Watcher::get().new_ops());
    return nb::make_tuple(counts.of_torch, counts.of_others);
  });
  add_new_ops(module);
  module.def("watch", [](bool on) { watching = on ? 1 : 0; });
  module.def("is_watching", [] { return watching != 0; });
  module.def("begin_anew", [] {
    this_thread().forget_stop();
    Adapter::get().moments().forget();
    Watcher::get().history().forget();
    Watcher::get().storages().forget();
    const WithoutGil without_gil;
    Watcher::get().judge().begin_anew();
  });
  module.def("remember_old_gradients", [] { Adapter::get().moments().remember_old_gradients(); });
  add_forks(module);
  module.def("keep_to", &keep_to);
  add_moments(module);
  module.def("program_ended", [](bool exception, bool blunder, int status, const std::string& text,
                                 nb::handle locals, nb::handle held, nb::handle stack) {
    std::vector<RawFrame> frames;
    for (nb::handle frame : stack) {
      frames.push_back({nb::object(frame[0]).ptr(), nb::cast<int>(frame[1]), nullptr});
    }
    Adapter::get().moments().program_ended({exception, blunder, status, text, tensors_in(locals),
                                            named_tensors_in(held), past_stack(frames)});
  });
  // Of the tensor itself, and of those that it wraps.
  module.def("storage_numbers", [](nb::handle tensor) {
    std::vector<std::uint64_t> numbers;
    if (!is_tensor(tensor)) return numbers;
    numbers.push_back(storage_id(*unwrap(tensor).unsafeGetTensorImpl()).value);
    if (!has_parts(*unwrap(tensor).unsafeGetTensorImpl())) return numbers;
    for (const at::Tensor& part : parts_of(unwrap(tensor)))
      numbers.push_back(storage_id(*part.unsafeGetTensorImpl()).value);
    return numbers;
  });
  module.def("knows_bad_values", [] { return !Watcher::get().ledger().empty(); });
  module.def("error_found", &error_found);
  module.def("stops", [] { return Watcher::get().stopping().count(); });
  module.def("error_number", &error_number);
  module.def("announce", [](const Native& capture) { announce(capture.bytes); });
  add_measures(module);
  module.def("finish", &finish);
  add_sentinel(module);
}
