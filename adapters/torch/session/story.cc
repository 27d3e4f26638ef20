#include "adapters/torch/session/story.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "adapters/python/read_site.h"
#include "adapters/torch/hit/facts.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/watch/stopping.h"
#include "adapters/torch/watch/watcher.h"

namespace nb = nanobind;

namespace nanscope::torch_adapter {
namespace {

// What Python gave for the telling, under the GIL.
class Teller {
 public:
  void configure(PyObject* describe, PyObject* name) {
    Py_XINCREF(describe);
    Py_XINCREF(name);
    Py_XSETREF(describe_, describe);
    Py_XSETREF(name_, name);
  }
  [[nodiscard]] PyObject* describe() const noexcept { return describe_; }
  [[nodiscard]] PyObject* name() const noexcept { return name_; }
  // Values that no watched op made may have been computed before the watch began.
  void began_late(bool late) noexcept { began_late_ = late; }
  [[nodiscard]] bool began_late() const noexcept { return began_late_; }

 private:
  PyObject* describe_ = nullptr;
  PyObject* name_ = nullptr;
  bool began_late_ = false;
};
Teller& teller() {
  static auto& one = *new Teller;
  return one;
}

// The answer of story.describe, read back.
struct Described {
  Site site;
  std::optional<Site> library_site;
  std::vector<Frame> stack;
  std::optional<std::string> module;
  std::vector<std::optional<std::string>> names;
  std::optional<int> rank;
  std::optional<int> worker;
};

Described read_answer(nb::handle answer) {
  Described described;
  described.site = python::read_site(answer["site"]);
  if (!nb::object(answer["library_site"]).is_none())
    described.library_site = python::read_site(answer["library_site"]);
  described.stack = python::read_stack(nb::object(answer["stack"]));
  described.module = python::field<std::optional<std::string>>(answer, "module");
  described.rank = python::field<std::optional<int>>(answer, "rank");
  described.worker = python::field<std::optional<int>>(answer, "worker");
  described.names = python::field<std::vector<std::optional<std::string>>>(answer, "names");
  return described;
}

nb::list frames_for_python(StackId stack) {
  nb::list frames;
  for (const RawFrame& frame : frames_of(stack)) {
    frames.append(nb::make_tuple(nb::borrow(frame.code), frame.lasti,
                                 reinterpret_cast<std::uintptr_t>(frame.self)));
  }
  return frames;
}

// Calls Python code of ours in the middle of the program's. It raises nothing itself: what comes
// out is the program's (Ctrl-C, a timeout of its own), which gets it later, and we ask once more.
nb::object ask_python(PyObject* function, const nb::tuple& given) {
  try {
    return nb::borrow(function)(*given);
  } catch (nb::python_error& error) {
    Stopping::keep_interrupt(error.value().inc_ref().ptr());
  }
  return nb::borrow(function)(*given);
}

Described ask(StackId stack, const std::string& op, const std::string& node,
              const std::vector<Facts::Argument>& arguments) {
  if (teller().describe() == nullptr) return {};
  try {
    nb::list given;
    for (const Facts::Argument& argument : arguments) {
      given.append(
          nb::make_tuple(argument.schema_name, argument.item, argument.saved, argument.transposed));
    }
    const nb::tuple question = nb::make_tuple(frames_for_python(stack), op, node, given);
    return read_answer(ask_python(teller().describe(), question));
  } catch (const std::exception& error) {
    Described described;
    described.site.remark = std::string("the source could not be read: ") + error.what();
    return described;
  }
}

// The ops behind it get their places and the names of what they kept.
void tell_makers(const Facts& facts, Finding& finding) {
  for (std::size_t i = 0; i < finding.makers.size() && i < facts.made_at.size(); ++i) {
    Maker& maker = finding.makers[i];
    const Facts::MadeAt& made = facts.made_at[i];
    if (made.stack == 0) continue;
    Described described = ask(made.stack, "", maker.node, made.arguments);
    maker.site = std::move(described.site);
    for (std::size_t k = 0; k < maker.tensors.size() && k < described.names.size(); ++k) {
      if (described.names[k]) maker.tensors[k].name = *described.names[k];
    }
  }
  for (const Facts::Activation& activation : facts.activations) {
    if (activation.stack == 0) continue;
    const Site site = ask(activation.stack, "", "", {}).site;
    finding.magnitudes.push_back({site.code, activation.largest, false});
  }
}

// Numbers first (taken at the hit), then places and names.
Finding begin_finding(const EventView& event) {
  Finding finding;
  std::vector<Facts::Argument> arguments;
  if (event.facts != nullptr) {
    finding = event.facts->finding;
    arguments = event.facts->arguments;
  }
  Origin& origin = finding.origin;
  origin.kind = event.origin_kind.value_or(OriginKind::kBirth);
  if (origin.kind == OriginKind::kImported && (!finding.makers.empty() || teller().began_late()))
    origin.kind = OriginKind::kUnwatched;
  origin.was_finite = event.origin_kind == OriginKind::kUnwatched;
  origin.phase = origin.kind == OriginKind::kUnwatched ? event.place.phase : event.phase();
  origin.op = event.op->name;
  if (!event.place.node.empty()) origin.node = event.place.node;
  origin.step = event.place.step;
  origin.left_before = event.left_before;
  origin.discarded = event.discarded;
  // Code that the engine calls (autograd.Function, a hook) is its own site.
  origin.in_backward_code = origin.node && event.place.stack == event.place.call_stack;
  Described described =
      ask(event.place.stack, origin.op, origin.in_backward_code ? "" : event.place.node, arguments);
  origin.site = std::move(described.site);
  origin.library_site = std::move(described.library_site);
  origin.stack = std::move(described.stack);
  origin.module = std::move(described.module);
  origin.rank = described.rank;
  origin.worker = described.worker;
  std::size_t input = 0;
  for (std::size_t i = 0; i < arguments.size() && i < described.names.size(); ++i) {
    if (!arguments[i].shown || input >= finding.inputs.size()) continue;
    if (described.names[i]) finding.inputs[input].name = *described.names[i];
    ++input;
  }
  for (std::size_t i = 0; i < arguments.size() && i < finding.inputs.size(); ++i) {
    const auto same = arguments[i].saved_as;  // in a backward all of them are shown
    if (same && *same < finding.inputs.size() && described.names.size() > *same &&
        described.names[*same])
      finding.inputs[i].name = *described.names[*same];
  }
  if (event.facts != nullptr) tell_makers(*event.facts, finding);
  return finding;
}

// How the training went until here.
void tell_history(Finding& finding) {
  const Watcher& watcher = Watcher::get();
  finding.history = watcher.history().so_far(watcher.judge().current_step());
  if (finding.origin.phase != Phase::kBackward) return;
  for (const double largest : watcher.history().gradients_now())
    finding.magnitudes.push_back({"", largest, true});
}

// The living modules know the names of their parameters and buffers.
std::optional<std::string> name_in_modules(StorageId storage) {
  if (teller().name() == nullptr) return std::nullopt;
  try {
    const nb::tuple given = nb::make_tuple(storage.value);
    return nb::cast<std::optional<std::string>>(ask_python(teller().name(), given));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// "net.head.weight", "exp_avg of net.head.weight", or a variable's own name.
std::optional<std::string> words_of(const TargetName& name) {
  if (name.empty()) return std::nullopt;
  if (name.storage == StorageId{}) return name.text;
  const std::optional<std::string> owner = name_in_modules(name.storage);
  if (name.text.empty()) return owner;
  return owner ? name.text + " of " + *owner : name.text;
}

Site site_at(StackId stack, const std::string& op) { return ask(stack, op, "", {}).site; }

}  // namespace

void configure_story(PyObject* describe, PyObject* name) { teller().configure(describe, name); }

void made_before_the_watch(bool may) noexcept { teller().began_late(may); }

Finding tell_story(const Verdict& verdict) {
  const nb::gil_scoped_acquire gil;
  Finding finding = begin_finding(verdict.origin);
  finding.level = Level::kError;
  tell_history(finding);
  if (verdict.misuse) finding.origin.kind = OriginKind::kBirth;
  if (verdict.harmless) {
    const EventView& origin = verdict.origin;
    finding.chain.push_back({origin.op->name, finding.origin.site, origin.phase(), origin.role()});
    return finding;
  }
  Harm harm;
  harm.kind = verdict.harm;
  harm.step = verdict.place.step;
  if (verdict.place.stack != 0) harm.site = site_at(verdict.place.stack, "");
  harm.name = words_of(verdict.name);
  harm.text = verdict.text;
  // What it was made from and is not to blame: a mask, an inf that came with the data.
  for (const EventView& event : verdict.evidence) {
    if (event.origin_kind == OriginKind::kDeclared || event.role() == Role::kImported)
      finding.chain.push_back({event.op->name, site_at(event.place.stack, event.op->name),
                               event.phase(), event.role()});
  }
  for (const EventView& event : verdict.chain) {
    finding.chain.push_back(
        {event.op->name, site_at(event.place.stack, event.op->name), event.phase(), event.role()});
  }
  finding.chain.push_back({"", harm.site.value_or(Site{}), finding.origin.phase, Role::kHarm});
  finding.chain_truncated = verdict.chain_truncated;
  finding.harm = std::move(harm);
  return finding;
}

Finding tell_note(const Note& note) {
  const nb::gil_scoped_acquire gil;
  Finding finding = begin_finding(note.first);
  finding.level = note.warns ? Level::kWarning : Level::kNote;
  finding.count = note.count;
  finding.fate = note.why;
  return finding;
}

Finding tell_warning(Forewarning warning, const std::string& op, StackId stack, StorageId weight) {
  const nb::gil_scoped_acquire gil;
  Finding finding;
  finding.level = Level::kWarning;
  finding.origin.op = op;
  finding.origin.value = {warning.value, 0, false};
  finding.origin.step = Watcher::get().judge().current_step();
  if (stack != 0) {
    Described described = ask(stack, "", "", {});
    finding.origin.site = std::move(described.site);
    finding.origin.stack = std::move(described.stack);
    finding.origin.module = std::move(described.module);
  }
  if (weight != StorageId{}) warning.name = name_in_modules(weight).value_or("a weight");
  if (warning.name.empty()) warning.name = finding.origin.site.code;
  finding.forewarning = std::move(warning);
  return finding;
}

}  // namespace nanscope::torch_adapter
