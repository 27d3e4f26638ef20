// The Python module nanscope._torch: sessions and switches. The moments are in python_moments.cc.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "adapters/python/native.h"
#include "adapters/torch/binding/adapter.h"
#include "adapters/torch/binding/python_compiled.h"
#include "adapters/torch/binding/python_devices.h"
#include "adapters/torch/binding/python_forks.h"
#include "adapters/torch/binding/python_moments.h"
#include "adapters/torch/binding/python_new_ops.h"
#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/binding/python_sentinel.h"
#include "adapters/torch/binding/python_subclasses.h"
#include "adapters/torch/device/reader.h"
#include "adapters/torch/hit/at_hand.h"
#include "adapters/torch/hit/remade.h"
#include "adapters/torch/interpose/install.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/ops/operands.h"
#include "adapters/torch/program/forewarn.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/program/moments.h"
#include "adapters/torch/ranks/received.h"
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
  if (word == "raise") return OnError::kRaise;
  if (word == "stop") return OnError::kStop;
  throw nb::value_error(("on an error one may go_on, raise or stop, not " + word).c_str());
}

// Ends the session: its capture, where that is on disk, and what could not be written.
using Counted = std::vector<std::tuple<std::string, std::string, std::int64_t>>;

nb::tuple finish(int status, const std::string& ended, const Counted& also,
                 const Counted& allowances) {
  std::vector<NotWatched> not_watched;
  for (const auto& [what, why, count] : also) not_watched.push_back({what, why, count});
  std::vector<Allowance> allowed;
  for (const auto& [what, why, count] : allowances) allowed.push_back({what, why, count});
  const Busy busy;
  watch_weights();
  SessionEnd end =
      end_session(status, from_word<Ended>(ended).value_or(Ended::kNormally), not_watched, allowed);
  return nb::make_tuple(std::move(end.capture), Native{end.capture_path}, end.complaints);
}

void add_session_options(nb::module_& module) {
  nb::class_<SessionOptions>(module, "SessionOptions", "How one session is to be.")
      .def(
          "__init__",
          [](SessionOptions* self, const Native& capture, bool overwrite, bool keep_capture,
             const std::string& on_error, bool strict, const Native& news, const Native& handed,
             const std::vector<Native>& argv, const std::string& python, const std::string& torch,
             const Native& host, std::int64_t pid, const std::string& mode) {
            new (self) SessionOptions{.capture_path = capture.bytes,
                                      .overwrite = overwrite,
                                      .keep_capture = keep_capture,
                                      .on_error = on_error_from(on_error),
                                      .strict = strict,
                                      .news = news.bytes,
                                      .handed = handed.bytes,
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
          nb::arg("news") = "", nb::arg("handed") = "", nb::arg("argv") = nb::make_tuple(),
          nb::arg("python") = "", nb::arg("torch") = "", nb::arg("host") = "", nb::arg("pid") = 0,
          nb::arg("mode") = "exact");
  module.def("begin", [](const SessionOptions& options) {
    Adapter::get().stepped_optimizers().clear();  // what others stepped before is not of this run
    begin_session(options);
  });
}

// What the adapter asks Python while a program runs.
struct Configuration {
  nb::object is_user_code;
  nb::object spells;
  nb::object given_at;
  nb::object takes_memory;
  nb::object optimizer;
  std::string torch_folder;
  nb::object describe;
  nb::object name;
  nb::object modules;
  nb::object make_again;
  nb::object whence;
  nb::object exception_for;
  nb::object tests_for_nonfinite;
  nb::object allows;
  nb::object on_read;
  std::int64_t steps = 0;
};

void add_configuration(nb::module_& module) {
  nb::class_<Configuration>(module, "Configuration", "Whom to ask while a program runs.")
      .def(
          "__init__",
          [](Configuration* self, nb::object is_user_code, nb::object spells, nb::object given_at,
             nb::object takes_memory, nb::object optimizer, std::string torch_folder,
             nb::object describe, nb::object name, nb::object modules, nb::object make_again,
             nb::object whence, nb::object exception_for, nb::object tests_for_nonfinite,
             nb::object allows, nb::object on_read, std::int64_t steps) {
            new (self) Configuration{std::move(is_user_code),
                                     std::move(spells),
                                     std::move(given_at),
                                     std::move(takes_memory),
                                     std::move(optimizer),
                                     std::move(torch_folder),
                                     std::move(describe),
                                     std::move(name),
                                     std::move(modules),
                                     std::move(make_again),
                                     std::move(whence),
                                     std::move(exception_for),
                                     std::move(tests_for_nonfinite),
                                     std::move(allows),
                                     std::move(on_read),
                                     steps};
          },
          nb::kw_only(), nb::arg("is_user_code"), nb::arg("spells"), nb::arg("given_at"),
          nb::arg("takes_memory"), nb::arg("optimizer"), nb::arg("torch_folder"),
          nb::arg("describe"), nb::arg("name"), nb::arg("modules"), nb::arg("make_again"),
          nb::arg("whence"), nb::arg("exception_for"), nb::arg("tests_for_nonfinite"),
          nb::arg("allows"), nb::arg("on_read"), nb::arg("steps") = 0);
  module.def("configure", [](const Configuration& ask) {
    configure_frames({.is_user_code = ask.is_user_code.ptr(),
                      .spells = ask.spells.ptr(),
                      .given_at = ask.given_at.ptr(),
                      .takes_memory = ask.takes_memory.ptr(),
                      .optimizer_class = ask.optimizer.ptr()},
                     ask.torch_folder);
    configure_story({.describe = ask.describe.ptr(),
                     .name = ask.name.ptr(),
                     .modules = ask.modules.ptr(),
                     .whence = ask.whence.ptr(),
                     .tests = ask.tests_for_nonfinite.ptr(),
                     .allows = ask.allows.ptr()});
    configure_remaking(ask.make_again.ptr());
    Watcher::get().stopping().tell_of_reads(ask.on_read.ptr());
    Watcher::get().stopping().configure(ask.exception_for.ptr(), ask.steps);
  });
}

// How the program ended, and what it holds.
void add_end(nb::module_& module) {
  module.def(
      "program_ended",
      [](bool exception, bool blunder, int status, const std::string& text, nb::handle locals,
         nb::handle held, nb::handle stack, nb::handle handed, nb::handle memory,
         const std::vector<double>& numbers, bool left_early, bool may_have_left_early) {
        std::vector<RawFrame> frames;
        for (nb::handle frame : stack) {
          frames.push_back({nb::object(frame[0]).ptr(), nb::cast<int>(frame[1]), nullptr});
        }
        End end{exception,
                blunder,
                status,
                text,
                tensors_in(locals),
                named_tensors_in(held),
                past_stack(frames),
                tensors_in(handed),
                tensors_in(memory),
                {},
                left_early,
                may_have_left_early,
                {}};
        guarded([&] {
          for (const nb::object& optimizer : Adapter::get().stepped_optimizers().alive()) {
            NamedTensors state = suspects_in_state(optimizer);
            end.state.insert(end.state.end(), state.begin(), state.end());
          }
        });
        for (const double number : numbers) end.numbers.add(number);
        guarded([] {
          Watcher& watcher = Watcher::get();
          wrap_unnoticed_kernels(watcher.new_ops(), watcher.other_devices(), /*called=*/true);
        });
        guarded([] { Adapter::get().undoing().program_ended(); });
        Adapter::get().moments().program_ended(end);
      },
      nb::kw_only(), nb::arg("exception"), nb::arg("blunder"), nb::arg("status"), nb::arg("text"),
      nb::arg("locals"), nb::arg("held"), nb::arg("stack"), nb::arg("handed"), nb::arg("memory"),
      nb::arg("numbers"), nb::arg("left_early"), nb::arg("may_have_left_early"));
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

// The lower rooms ask these of the higher ones.
void connect_rooms() {
  ask_for_wrapped(&wrapped_by);
  read_devices_by(device_reader());
  Watcher::get().world().ask(
      {.state = &state_by_extent, .facts = &facts_at_hand, .receipt = &receipt_of});
  Watcher::get().disarming().tell(&tell_ranks_of_leaving);
}

// What is turned on and off, begun and let go of.
void add_switches(nb::module_& module) {
  // A watch() block is over: what it gave us is let go of.
  module.def("disconnect", [] {
    configure_story({});
    configure_remaking(nullptr);
    Watcher::get().board_of_ranks().configure(nullptr, nullptr, nullptr, nullptr);
    Watcher::get().stopping().configure(nullptr, 0);
    Watcher::get().stopping().tell_of_reads(nullptr);
  });
  // What this rank gives into a collective that is bad, and whom to ask what others gave.
  module.def(
      "configure_ranks", [](nb::handle join, nb::handle give, nb::handle ask, nb::handle leave) {
        Watcher::get().board_of_ranks().configure(join.ptr(), give.ptr(), ask.ptr(), leave.ptr());
      });
  module.def("install", [] {
    Watcher& watcher = Watcher::get();
    const Installed counts = install_wrappers(watcher.new_ops(), watcher.other_devices());
    return nb::make_tuple(counts.of_torch, counts.of_others);
  });
  module.def("watch", [](bool on) {
    NewOps& new_ops = Watcher::get().new_ops();
    if (on && watching == 0) {
      wrap_unnoticed_kernels(new_ops, Watcher::get().other_devices(), /*called=*/false);
      new_ops.begin_count();
    }
    watching = on ? 1 : 0;
    if (!on) Watcher::get().window().forget();
  });
  module.def("is_watching", [] { return watching != 0; });
  module.def("begin_anew", [] {
    this_thread().forget_stop();
    Adapter::get().moments().forget();
    Watcher::get().history().forget();
    Watcher::get().storages().forget();
    Watcher::get().window().forget();
    const WithoutGil without_gil;
    Watcher::get().judge().begin_anew();
  });
  module.def("remember_old_gradients", [] { Adapter::get().moments().remember_old_gradients(); });
  module.def("keep_to", &keep_to);
  // From here on, on this thread; the answer is the block around.
  module.def("allow", [](std::uint32_t block) { return this_thread().allow(block); });
}

// What Python tells while the program runs.
void add_news(nb::module_& module) {
  module.def("numpy_births",
             [](std::uint64_t count) { Watcher::get().outside().numpy_births(count); });
  module.def("batches_fetched",
             [](std::uint64_t count) { Watcher::get().outside().batches(count); });
  module.def("open_for_replay", &open_for_replay);
  module.def("replay_was_undone", &replay_was_undone);
  module.def("settle_harm", [] { guarded([] { Adapter::get().undoing().program_ended(); }); });
  module.def("announce", [](const Native& capture) { announce(capture.bytes); });
}

// What Python asks.
void add_questions(nb::module_& module) {
  // Numbers the storage of the tensor, and those of the ones that it wraps.
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
  module.def("current_step", [] { return Watcher::get().judge().current_step(); });
  module.def("stops", [] { return Watcher::get().stopping().count(); });
  module.def("error_number", &error_number);
  module.def("capture_so_far", [] {
    const Busy busy;
    return capture_so_far();
  });
}

}  // namespace
}  // namespace nanscope::torch_adapter

// Named after the minor of torch that it was compiled for: _torch_2_13.
NB_MODULE(NANSCOPE_ADAPTER, module) {
  using namespace nanscope;
  using namespace nanscope::torch_adapter;

  nb::set_leak_warnings(false);  // the hooks live as long as the process
  connect_rooms();
  add_configuration(module);
  add_session_options(module);
  add_switches(module);
  add_news(module);
  add_questions(module);
  add_devices(module);
  add_new_ops(module);
  add_compiled(module);
  add_forks(module);
  add_moments(module);
  add_end(module);
  add_measures(module);
  module.def("finish", &finish);
  add_sentinel(module);
}
