#include "adapters/torch/session/story.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "adapters/python/read_finding.h"
#include "adapters/python/read_site.h"
#include "adapters/torch/hit/facts.h"
#include "adapters/torch/ops/own_numbers.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/ranks/received.h"
#include "adapters/torch/session/module_story.h"
#include "adapters/torch/watch/kept_function.h"
#include "adapters/torch/watch/stopping.h"
#include "adapters/torch/watch/watcher.h"

namespace nb = nanobind;

namespace nanscope::torch_adapter {
namespace {

// What Python gave for the telling, under the GIL.
class Teller {
 public:
  void configure(const StoryTellers& given) {
    describe_.keep(given.describe);
    name_.keep(given.name);
    modules_.keep(given.modules);
    whence_.keep(given.whence);
    tests_.keep(given.tests);
    allows_.keep(given.allows);
  }
  [[nodiscard]] PyObject* describe() const noexcept { return describe_.get(); }
  [[nodiscard]] PyObject* name() const noexcept { return name_.get(); }
  [[nodiscard]] PyObject* modules() const noexcept { return modules_.get(); }
  [[nodiscard]] PyObject* whence() const noexcept { return whence_.get(); }
  [[nodiscard]] PyObject* tests() const noexcept { return tests_.get(); }
  [[nodiscard]] PyObject* allows() const noexcept { return allows_.get(); }
  // Values that no watched op made may have been computed before the watch began.
  [[nodiscard]] Handed& handed() noexcept { return handed_; }
  void began_late(bool late) noexcept { began_late_ = late; }
  [[nodiscard]] bool began_late() const noexcept { return began_late_; }

 private:
  KeptFunction describe_;
  KeptFunction name_;
  KeptFunction modules_;
  KeptFunction tests_;
  KeptFunction allows_;
  KeptFunction whence_;
  bool began_late_ = false;
  Handed handed_;
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

nb::object ask_python(PyObject* function, const nb::tuple& given) {
  PyObject* const answer = Stopping::ask(function, given.ptr());
  if (answer == nullptr) throw std::runtime_error("nanscope could not tell");
  return nb::steal(answer);
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

// The lines around are shown of an origin alone.
Site without_surroundings(Site site) {
  site.before.clear();
  site.after.clear();
  return site;
}

// The ops behind it get their places and the names of what they kept.
void tell_makers(const Facts& facts, Finding& finding) {
  for (std::size_t i = 0; i < finding.makers.size() && i < facts.made_at.size(); ++i) {
    Maker& maker = finding.makers[i];
    const Facts::MadeAt& made = facts.made_at[i];
    if (made.stack == 0) continue;
    Described described = ask(made.stack, "", maker.node, made.arguments);
    maker.site = without_surroundings(std::move(described.site));
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

// A number that a function of torch wrote itself is a birth there, and no constant of the program.
void be_own_number(Finding& finding) {
  Origin& origin = finding.origin;
  if (origin.kind != OriginKind::kDeclared || !origin.not_spelled) return;
  const std::string_view writer = writer_of_own_number(origin.op, origin.site.code);
  if (writer.empty()) return;
  origin.kind = OriginKind::kBirth;
  origin.op = writer;
  origin.not_spelled = false;
  finding.scalars.clear();
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
  if (origin.kind == OriginKind::kImported &&
      (!finding.makers.empty() || teller().began_late() || !origin.viewed_as.empty()))
    origin.kind = OriginKind::kUnwatched;
  // Once the watch is off, an op of the program may have made what then seems to come in.
  finding.arrival_is_likely |= !Watcher::get().disarming().reason().empty();
  origin.from_other_device = event.from_other_device;
  origin.was_finite = event.origin_kind == OriginKind::kUnwatched && !event.from_other_device;
  origin.phase = origin.kind == OriginKind::kUnwatched ? event.place.phase : event.phase();
  origin.op = event.op->name;
  if (!event.place.node.empty()) origin.node = event.place.node;
  origin.step = event.place.step;
  origin.left_before = event.left_before;
  origin.discarded = event.discarded;
  origin.not_spelled = event.facts != nullptr && event.facts->not_spelled;
  // Code that the engine calls (autograd.Function, a hook) is its own site.
  origin.in_backward_code = origin.node && event.place.stack == event.place.call_stack;
  Described described =
      ask(event.place.stack, origin.op, origin.in_backward_code ? "" : event.place.node, arguments);
  origin.site = std::move(described.site);
  if (described.library_site)
    origin.library_site = without_surroundings(std::move(*described.library_site));
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
  be_own_number(finding);
  return finding;
}

// The value was made elsewhere, and this is the place where it came in.
void be_made_there(Finding made, Finding& here) {
  made.origin.phase = Phase::kData;
  made.origin.step = here.origin.step;
  made.origin.rank = here.origin.rank;
  if (!made.origin.worker) made.origin.worker = here.origin.worker;
  if (made.chain.empty())
    made.chain.push_back({made.origin.op, made.origin.site, Phase::kData, Role::kBirth});
  made.arrival = std::move(here.arrival);
  made.handed_by = here.handed_by;
  made.arrival_is_likely |= here.arrival_is_likely;
  here = std::move(made);
}

// Another process of the run handed it over.
bool be_handed_over(const EventView& event, Finding& finding) {
  std::optional<Handed::Story> story = handed().find(event.facts->pattern, event.kinds);
  if (!story) return false;
  const Phase phase = story->finding.origin.worker ? Phase::kData : story->finding.origin.phase;
  finding.arrival = std::move(story->finding.arrival);
  // Of several hands the last is told.
  finding.handed_by = HandedOver{story->pid, story->finding.origin.worker, story->exact};
  finding.arrival_is_likely = story->finding.arrival_is_likely || !story->exact;
  std::erase_if(story->finding.chain, [](const Link& link) { return link.role == Role::kHarm; });
  // A fresh interpreter that imports nothing of the program shows no line of it.
  if (story->finding.origin.kind == OriginKind::kImported &&
      story->finding.origin.site.file.starts_with('<')) {
    story->finding.origin.site = finding.origin.site;
    story->finding.origin.stack = finding.origin.stack;
  }
  const std::int64_t step = story->finding.origin.step;
  const OriginKind kind = story->finding.origin.kind;
  be_made_there(std::move(story->finding), finding);
  finding.origin.phase = kind == OriginKind::kBirth ? phase : Phase::kData;
  finding.origin.step = step;
  return true;
}

// See Arrival in arrivals.py.
nb::tuple question_of(const EventView& event, const Finding& finding, bool number) {
  const EventFacts& facts = *event.facts;
  const auto shown = std::find_if(facts.arguments.begin(), facts.arguments.end(),
                                  [](const Facts::Argument& argument) { return argument.shown; });
  const int item = shown == facts.arguments.end() ? -1 : shown->item;
  const auto& inputs = finding.inputs;
  const auto& indices = finding.origin.indices;
  return nb::make_tuple(event.kinds.nan, number, facts.numpy_births, facts.batches, item,
                        inputs.empty() ? std::vector<std::int64_t>{} : inputs[0].shape,
                        indices.empty() ? Index{} : indices[0]);
}

// What no op of torch in this process made: where it was made, or came in. True if the finding is
// now about another place.
bool tell_arrival(const EventView& event, Finding& finding) {
  const Origin& origin = finding.origin;
  if (origin.kind == OriginKind::kImported && event.facts != nullptr &&
      be_handed_over(event, finding))
    return true;
  const bool number = origin.kind == OriginKind::kDeclared && origin.not_spelled;
  if (event.facts == nullptr || (origin.kind != OriginKind::kImported && !number)) return false;
  if (teller().whence() == nullptr) return false;
  try {
    const nb::object answer = ask_python(teller().whence(), question_of(event, finding, number));
    if (answer.is_none()) return false;
    finding.arrival = python::field<std::vector<std::string>>(answer, "arrival");
    finding.arrival_is_likely |= python::field<bool>(answer, "likely");
    const auto unwatched = python::field<std::string>(answer, "unwatched");
    if (!unwatched.empty() && !number) {
      finding.origin.kind = OriginKind::kUnwatched;
      finding.origin.phase = event.place.phase;
      finding.arrival.push_back(unwatched);
    }
    const nb::object made(answer["made"]);
    if (made.is_none()) return false;
    be_made_there(python::read_finding(made), finding);
    return true;
  } catch (const std::exception&) {
    return false;
  }
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

// Why the program allows it; empty: it does not.
std::string allowance(const Site& site, std::uint32_t block) {
  if (teller().allows() == nullptr) return {};
  try {
    const nb::tuple given = nb::make_tuple(site.file, site.line, site.end_line, block);
    return nb::cast<std::string>(ask_python(teller().allows(), given));
  } catch (const std::exception&) {
    return {};
  }
}

Site site_at(StackId stack, const std::string& op) {
  return without_surroundings(ask(stack, op, "", {}).site);
}

// What the op gave; of what came in, the tensor that brought it.
std::optional<Made> made_at(const EventView& event) {
  if (event.made != nullptr) return *event.made;
  if (event.facts == nullptr || event.facts->finding.inputs.empty()) return std::nullopt;
  if (event.role() != Role::kImported) return std::nullopt;
  return as_made(event.facts->finding.inputs[0]);
}

// The branches that ended well. `parent` is a number in the chain of the verdict.
void tell_cleaned(const Verdict& verdict, Finding& finding) {
  for (const Cleaning& cleaning : verdict.cleaned) {
    const EventView& event = cleaning.by;
    Link link{event.op->name, site_at(event.place.stack, event.op->name), event.place.phase,
              Role::kCleaned, made_at(event)};
    if (cleaning.from) link.parent = static_cast<int>(*cleaning.from);
    finding.cleaned.push_back(std::move(link));
  }
  finding.cleaned_more = static_cast<std::int64_t>(verdict.cleaned_more);
}

}  // namespace

void configure_story(const StoryTellers& given) { teller().configure(given); }

bool source_tests_for_nonfinite(const Finding& finding) {
  const nb::gil_scoped_acquire gil;
  if (teller().tests() == nullptr) return false;
  nb::list files;
  for (const Frame& frame : finding.origin.stack) {
    if (frame.own) files.append(frame.file);
  }
  files.append(finding.origin.site.file);
  if (finding.harm && finding.harm->site) files.append(finding.harm->site->file);
  try {
    return nb::cast<bool>(ask_python(teller().tests(), nb::make_tuple(files)));
  } catch (const std::exception&) {
    return false;
  }
}

Handed& handed() { return teller().handed(); }

void made_before_the_watch(bool may) noexcept { teller().began_late(may); }

Finding tell_story(const Verdict& verdict) {
  const nb::gil_scoped_acquire gil;
  Finding finding = begin_finding(verdict.origin);
  bool elsewhere = tell_arrival(verdict.origin, finding);
  tell_of_ranks(verdict.origin, finding);
  // An infinity that came in is not to blame for what is made of it, unless it was born elsewhere.
  for (const EventView& event : verdict.evidence) {
    if (elsewhere || event.role() != Role::kImported) continue;
    Finding brought = begin_finding(event);
    if (!tell_arrival(event, brought) || brought.origin.kind != OriginKind::kBirth) continue;
    finding = std::move(brought);
    elsewhere = true;
  }
  finding.allowed = allowance(finding.origin.site, verdict.origin.place.allowed_by);
  finding.level = finding.allowed.empty() ? Level::kError : Level::kNote;
  tell_history(finding);
  if (verdict.origin.facts != nullptr)
    tell_modules(teller().modules(), verdict.origin.facts->kept_by_modules, finding);
  tell_cleaned(verdict, finding);
  if (verdict.misuse && !elsewhere) finding.origin.kind = OriginKind::kBirth;
  if (verdict.inherited) finding.origin.worker.reset();
  if (verdict.harmless) {
    const EventView& origin = verdict.origin;
    finding.chain.push_back(
        {origin.op->name, finding.origin.site, origin.phase(), origin.role(), made_at(origin)});
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
                               event.phase(), elsewhere ? Role::kCarrier : event.role(),
                               made_at(event)});
  }
  for (Link& link : finding.cleaned)
    if (link.parent) *link.parent += static_cast<int>(finding.chain.size());
  for (const EventView& event : verdict.chain) {
    const bool arrives = elsewhere && event.id == verdict.origin.id;  // it began before
    const bool is_own_number = event.id == verdict.origin.id && !elsewhere &&
                               event.origin_kind == OriginKind::kDeclared &&
                               finding.origin.op != event.op->name;
    if (is_own_number) {  // see be_own_number
      finding.chain.push_back(
          {finding.origin.op, finding.origin.site, event.phase(), Role::kBirth, made_at(event)});
      continue;
    }
    finding.chain.push_back({event.op->name, site_at(event.place.stack, event.op->name),
                             event.phase(), arrives ? Role::kCarrier : event.role(),
                             made_at(event)});
  }
  finding.chain.push_back({"", harm.site.value_or(Site{}), finding.origin.phase, Role::kHarm});
  finding.chain_truncated = verdict.chain_truncated;
  finding.harm = std::move(harm);
  return finding;
}

Intended tell_intended(const Note& note) {
  const nb::gil_scoped_acquire gil;
  Intended intended;
  intended.op = note.first.op->name;
  intended.site = site_at(note.first.place.stack, intended.op);
  intended.site.source.clear();  // the expression is enough
  if (note.first.facts != nullptr) intended.value = note.first.facts->finding.origin.value;
  intended.count = note.count;
  intended.fate = note.why;
  return intended;
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
