#include "report/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "diagnose/phrase.h"
#include "records/words.h"
#include "report/journey.h"
#include "report/json_document.h"
#include "report/sentence.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

constexpr std::int64_t kStepMicroseconds = 1000;
constexpr std::int64_t kLatestStep = 1'000'000'000'000;  // further is drawn there
enum TraceRow : int { kStepsRow = 1, kFindingsRow = 2 };

std::int64_t time_of_step(std::int64_t step) {
  return std::clamp<std::int64_t>(step, 0, kLatestStep) * kStepMicroseconds;
}

// The events of one capture: a process with a row of steps and one of ways.
class TraceOfCapture {
 public:
  TraceOfCapture(int process, Json& events) : process_(process), events_(events) {}

  void add(const Diagnosed& diagnosed) {
    const Program& program = diagnosed.capture.program;
    names(diagnosed.name.empty() ? joined(program.argv, " ") : diagnosed.name);
    const bool looks = program.mode == "sentinel";
    std::map<std::int64_t, StepRecord> steps;  // findings share most of their history
    for (const Finding& finding : diagnosed.capture.findings)
      for (const StepRecord& record : finding.history) steps[record.step] = record;
    for (const auto& [number, record] : steps) step(record, looks);
    for (std::size_t i = 0; i < diagnosed.causes.size(); ++i)
      way(diagnosed.capture.findings[i], diagnosed.causes[i]);
  }

 private:
  void names(std::string_view process) {
    metadata("process_name", 0, process);
    metadata("thread_name", kStepsRow, "steps");
    metadata("thread_name", kFindingsRow, "findings");
  }
  void metadata(const char* what, int row, std::string_view name) {
    events_.push_back({{"ph", "M"},
                       {"name", what},
                       {"pid", process_},
                       {"tid", row},
                       {"args", {{"name", report::safe(name)}}}});
  }
  Json& event(const char* phase, std::string_view name, std::int64_t time, int row) {
    events_.push_back({{"ph", phase},
                       {"name", report::safe(name)},
                       {"cat", "nanscope"},
                       {"ts", time},
                       {"pid", process_},
                       {"tid", row}});
    return events_.back();
  }

  void step(const StepRecord& record, bool look) {
    const std::int64_t time = time_of_step(record.step);
    event("X", fmt::format("step {}", record.step), time, kStepsRow)["dur"] = kStepMicroseconds;
    if (look) event("i", "look", time, kStepsRow)["s"] = "t";
    counter("loss", time, record.loss);
    counter("gradient norm", time, record.gradient_norm);
    counter("largest parameter", time, record.largest_parameter);
    counter("update ratio", time, record.update_ratio);
    counter("learning rate", time, record.learning_rate);
    counter("loss scale", time, record.loss_scale);
  }
  // A counter holds numbers alone; a value that is none is an instant of its own.
  void counter(const char* name, std::int64_t time, const std::optional<double>& value) {
    if (!value) return;
    if (std::isfinite(*value))
      event("C", name, time, kStepsRow)["args"] = {{"value", *value}};
    else
      event("i", fmt::format("{} is {}", name, number(*value)), time, kStepsRow)["s"] = "t";
  }

  void way(const Finding& finding, const Cause& cause) {
    const Origin& origin = finding.origin;
    const std::int64_t begin = time_of_step(origin.step);
    Json& hit = event("i", report::deed(finding, cause), begin, kFindingsRow);
    hit["s"] = "p";
    hit["args"] = {{"level", word_of(finding.level)},
                   {"at", report::position(origin.site)},
                   {"cause", cause.id},
                   {"why", cause.sentence},
                   {"elements", report::which_elements(origin)}};
    const auto stops = static_cast<std::int64_t>(finding.chain.size()) + 1;
    const std::int64_t width = std::max<std::int64_t>(1, kStepMicroseconds / stops);
    for (std::size_t i = 0; i < finding.chain.size(); ++i)
      link(finding.chain[i], begin + static_cast<std::int64_t>(i) * width, width);
    if (finding.harm) harm(*finding.harm, begin + (stops - 1) * width, begin);
  }
  void link(const Link& link, std::int64_t time, std::int64_t width) {
    const std::string name = link.op.empty() ? std::string(word_of(link.role)) : link.op;
    Json& slice = event("X", name, time, kFindingsRow);
    slice["dur"] = width;
    slice["args"] = {{"role", word_of(link.role)},
                     {"phase", word_of(link.phase)},
                     {"at", report::position(link.site)},
                     {"code", link.site.code}};
  }
  // The harm may come steps after the origin: an arrow leads there.
  void harm(const Harm& harm, std::int64_t at_least, std::int64_t begin) {
    const std::int64_t time = std::max(at_least, time_of_step(harm.step));
    Json& done = event("i", report::harm_text(harm), time, kFindingsRow);
    done["s"] = "p";
    done["args"] = {{"kind", word_of(harm.kind)}, {"step", harm.step}};
    const std::string id = fmt::format("{}.{}", process_, ++arrows_);
    event("s", "does harm", begin, kFindingsRow)["id"] = id;
    Json& arrow = event("f", "does harm", time, kFindingsRow);
    arrow["id"] = id;
    arrow["bp"] = "e";
  }

  int process_;
  int arrows_ = 0;
  Json& events_;
};

}  // namespace

std::string trace_report(const std::vector<Diagnosed>& captures) {
  Json events = Json::array();
  int process = 0;
  for (const Diagnosed& capture : captures) TraceOfCapture(++process, events).add(capture);
  const Json trace{{"displayTimeUnit", "ms"},
                   {"otherData", {{"clock", "a step is drawn as one millisecond"}}},
                   {"traceEvents", std::move(events)}};
  return json_text(trace, -1) + "\n";
}

}  // namespace nanscope
