// A capture in memory: its last records come from Python, and then it is shown.
//
// The torch adapter ends a session with one of these; a report is made from it and from nothing
// else.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "adapters/python/module.h"
#include "adapters/python/native.h"
#include "adapters/python/read_site.h"
#include "capture/reader.h"
#include "capture/writer.h"
#include "cli/cli.h"
#include "records/words.h"
#include "report/html.h"
#include "report/json.h"
#include "report/merge.h"
#include "report/summary.h"
#include "report/text.h"

namespace nb = nanobind;

namespace nanscope::python {
namespace {

Fix fix_from(nb::handle object) {
  return {.id = field<std::string>(object, "id"),
          .diff = field<std::string>(object, "diff"),
          .files = field<std::vector<std::string>>(object, "files"),
          .explanation = field<std::string>(object, "explanation"),
          .changes_training = field<bool>(object, "changes_training"),
          .workaround = field<bool>(object, "workaround"),
          .applied = field<bool>(object, "applied")};
}

Verification verification_from(nb::handle object) {
  return {.status = field<std::string>(object, "status"),
          .steps = field<std::int64_t>(object, "steps"),
          .healthy_steps_unchanged = field<std::optional<bool>>(object, "healthy_steps_unchanged"),
          .detail = field<std::string>(object, "detail"),
          .checks = field<std::vector<std::string>>(object, "checks"),
          .first_loss = field<std::int64_t>(object, "first_loss"),
          .losses_before = field<std::vector<std::optional<double>>>(object, "losses_before"),
          .losses_after = field<std::vector<std::optional<double>>>(object, "losses_after")};
}

Capture value_or_raise(Result<Capture> read) {
  if (!read) throw nb::value_error(read.error().message.c_str());
  return std::move(read.value());
}

// All or nothing: a patch that does not fit into the file is not shown either. Without a file, one
// that would fit is shown.
bool propose(Capture& capture, nb::handle fix, const Native& path) {
  Fix proposal = fix_from(fix);
  if (path.bytes.empty() ? !is_kept_whole(proposal) : !add_proposal(path.bytes, proposal).ok())
    return false;
  capture.proposal = std::move(proposal);
  return true;
}

void repair(Capture& capture, std::int64_t finding, nb::handle fix, nb::handle verification,
            nb::handle tried, const Native& path) {
  Repair repair;
  repair.finding = finding;
  if (!fix.is_none()) repair.fix = fix_from(fix);
  if (!verification.is_none()) repair.verification = verification_from(verification);
  for (nb::handle attempt : nb::object(nb::borrow(tried))) {
    repair.tried.push_back({field<std::string>(attempt, "id"),
                            field<std::string>(attempt, "status"),
                            field<std::string>(attempt, "detail")});
  }
  (void)add_repair(path.bytes, repair);  // where that is not possible, it is shown all the same
  std::erase_if(capture.repairs, [&](const Repair& old) { return old.finding == finding; });
  capture.repairs.push_back(std::move(repair));
}

std::string page_of_capture(const Capture& capture, const Native& name) {
  const Result<std::string> page = page_template();
  if (!page) throw nb::value_error(page.error().message.c_str());
  return html_report(page.value(), {diagnosed(capture, name.bytes)}, version());
}

void set_ended(Capture& capture, const std::string& word) {
  const std::optional<Ended> ended = from_word<Ended>(word);
  if (!ended) throw nb::value_error("a program ends normally, by exception, signal or stopped.");
  capture.program.ended = *ended;
}

// The errors of another capture, which were undone.
void take_undone(Capture& capture, const Capture& other, const std::string& how) {
  for (Finding finding : other.findings) {
    if (finding.level != Level::kError) continue;
    finding.level = Level::kNote;
    finding.undone = how;
    capture.findings.push_back(std::move(finding));
  }
}

Capture unwatched(const std::vector<Native>& argv, const std::string& python,
                  const std::string& torch, const Native& host, std::int64_t pid, int exit_status,
                  const std::string& ended,
                  const std::vector<std::tuple<std::string, std::string, std::int64_t>>& gaps) {
  Capture capture;
  for (const Native& argument : argv) capture.program.argv.push_back(argument.bytes);
  capture.program.python = python;
  capture.program.torch = torch;
  capture.program.host = host.bytes;
  capture.program.pid = pid;
  capture.program.exit_status = exit_status;
  set_ended(capture, ended);
  for (const auto& [what, why, count] : gaps)
    capture.coverage.not_watched.push_back({what, why, count});
  return capture;
}

// Merges [(capture, path)] and ranks without one: [(rank, host, pid, sentence)]. What else is known
// of a rank: [(rank, sentence)].
Capture merged(const std::vector<std::tuple<Capture, Native>>& captures,
               const std::vector<std::tuple<int, Native, std::int64_t, std::string>>& also,
               const std::vector<std::tuple<int, std::string>>& remarks) {
  if (captures.empty()) throw nb::value_error("There is no capture to merge.");
  std::vector<CaptureOfRank> of_ranks;
  for (const auto& [capture, path] : captures) of_ranks.push_back({capture, path.bytes});
  std::vector<RankLine> lines;
  for (const auto& [rank, host, pid, sentence] : also)
    lines.push_back({rank, host.bytes, pid, "", sentence});
  std::vector<RankRemark> of_lines;
  for (const auto& [rank, text] : remarks) of_lines.push_back({rank, text});
  return merge(std::move(of_ranks), std::move(lines), of_lines);
}

std::string_view without_patch(bool in_block, bool in_cell = false) {
  return in_cell ? kNoneInACell : in_block ? kNoneInABlock : kNoneProposed;
}

using CaptureClass = nb::class_<Capture>;

// Where one comes from.
void add_sources(CaptureClass& capture) {
  capture
      .def_static(
          "read", [](const Native& path) { return value_or_raise(read_capture(path.bytes)); },
          nb::arg("path"), "Of a file; raises ValueError if it is no capture.")
      .def_static(
          "from_bytes",
          [](const nb::bytes& data) {
            return value_or_raise(parse_capture({data.c_str(), data.size()}, "the capture"));
          },
          nb::arg("data"), "What `to_bytes` returned; raises ValueError if it is no capture.")
      .def_static("unwatched", &unwatched, nb::kw_only(), nb::arg("argv"), nb::arg("python"),
                  nb::arg("torch"), nb::arg("host"), nb::arg("pid"), nb::arg("exit_status"),
                  nb::arg("ended"), nb::arg("gaps"),
                  "Of a program of which nothing could be watched.")
      .def_static("merged", &merged, nb::arg("captures"), nb::arg("also"), nb::arg("remarks"),
                  "Of many ranks, with their paths: the origin first, a line for each.");
}

// What is known of the program.
void add_facts(CaptureClass& capture) {
  capture
      .def_prop_rw(
          "rank", [](const Capture& self) { return self.program.rank; },
          [](Capture& self, std::optional<int> rank) { self.program.rank = rank; },
          nb::arg("rank").none(), "Of torch.distributed, or None.")
      .def_prop_rw(
          "world_size", [](const Capture& self) { return self.program.world_size; },
          [](Capture& self, std::optional<int> size) { self.program.world_size = size; },
          nb::arg("world_size").none(), "How many ranks there are, or None.")
      .def_prop_ro(
          "error", [](const Capture& self) { return findings_of(self, Level::kError) > 0; },
          "Whether an error is among the findings.")
      .def_prop_rw(
          "ended",
          [](const Capture& self) {
            return self.program.ended ? std::optional(std::string(word_of(*self.program.ended)))
                                      : std::nullopt;
          },
          &set_ended, "How the program ended: normally, exception, signal, stopped or None.");
}

// What is added to it, here and in its file.
void add_changes(CaptureClass& capture) {
  capture
      .def(
          "write_end",
          [](const Capture& self, const Native& path) {
            return add_program(path.bytes, self.program).ok();
          },
          nb::arg("path"), "Adds how the program ended to a file; False if it could not.")
      .def("take_undone", &take_undone, nb::arg("other"), nb::arg("how"),
           "Adds the errors of another capture as notes: the program has undone them.")
      .def("propose", &propose, nb::arg("fix"), nb::arg("path"),
           nb::sig("def propose(self, fix: dict[str, object], path: str) -> bool"),
           "A patch for the first error, here and in the file (\"\": there is none); False, and "
           "nothing is done, if it does not fit there.")
      .def(
          "repair", &repair, nb::arg("finding"), nb::arg("fix").none(),
          nb::arg("verification").none(), nb::arg("tried"), nb::arg("path"),
          nb::sig("def repair(self, finding: int, fix: dict[str, object] | None, "
                  "verification: dict[str, object] | None, "
                  "tried: list[dict[str, str]], path: str) -> None"),
          "What `fix` made of a finding, by its number: here, and in the file if it can be added.");
}

// What is made of it.
void add_reports(CaptureClass& capture) {
  capture
      .def(
          "to_bytes",
          [](const Capture& self) {
            const std::string bytes = bytes_of(self);
            return nb::bytes(bytes.data(), bytes.size());
          },
          "As a file holds it.")
      .def("json", &json_report, "The report, schema nanscope/1.")
      .def("html", &page_of_capture, nb::arg("name"),
           "The report as a page; raises ValueError where nanscope was built without it.")
      .def(
          "text",
          [](const Capture& self, bool verbose, bool color, std::size_t columns, bool in_block,
             bool in_cell) {
            return text_report(self, {.color = color,
                                      .verbose = verbose,
                                      .columns = columns,
                                      .without_patch = without_patch(in_block, in_cell)});
          },
          nb::arg("verbose") = false, nb::arg("color") = false, nb::arg("columns") = 100,
          nb::arg("in_block") = false, nb::arg("in_cell") = false,
          "The report for a person; `in_block`: of a part of a program that watches itself; "
          "`in_cell`: of a notebook.");
}

}  // namespace

void add_captures(nb::module_& module) {
  CaptureClass capture(module, "Capture",
                       "The records of one session, from which a report is made.");
  add_sources(capture);
  add_facts(capture);
  add_changes(capture);
  add_reports(capture);
  nb::class_<Finding>(module, "FindingRecord", "One finding of a session that still goes on.")
      .def("json", &json_finding, "As in the report, on one line.")
      .def(
          "text",
          [](const Finding& self, bool in_block) {
            return text_of(self, TextOptions{.without_patch = without_patch(in_block)});
          },
          nb::arg("in_block") = false, "Its five parts.");
}

}  // namespace nanscope::python
