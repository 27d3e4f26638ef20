#include "report/redact.h"

#include <fmt/format.h>

#include <cmath>

#include "diagnose/causes.h"
#include "diagnose/phrase.h"

namespace nanscope {
namespace {

constexpr const char* kLeftOut = "(left out)";

// Sites, tensors and scalars are in many places of a finding: each is visited once.
template <class F>
void for_each_site(Finding& finding, F change) {
  change(finding.origin.site);
  if (finding.origin.library_site) change(*finding.origin.library_site);
  if (finding.harm && finding.harm->site) change(*finding.harm->site);
  for (Link& link : finding.chain) change(link.site);
  for (Link& link : finding.cleaned) change(link.site);
  for (Maker& maker : finding.makers) change(maker.site);
  if (finding.left_out_by) change(finding.left_out_by->site);
  if (finding.only_compiled)
    for (Site& site : finding.only_compiled->lines) change(site);
  for (RankWay& way : finding.received_by) {
    if (way.harm && way.harm->site) change(*way.harm->site);
    for (Link& link : way.chain) change(link.site);
  }
}

// What a value did, here and on the ranks that received it.
template <class F>
void for_each_harm(Finding& finding, F change) {
  if (finding.harm) change(*finding.harm);
  for (RankWay& way : finding.received_by)
    if (way.harm) change(*way.harm);
}

void without_text(Harm& harm) {
  if (!harm.text.empty()) harm.text = kLeftOut;
}

template <class F>
void for_each_link(Finding& finding, F change) {
  for (Link& link : finding.chain) change(link);
  for (Link& link : finding.cleaned) change(link);
  for (RankWay& way : finding.received_by)
    for (Link& link : way.chain) change(link);
}

// Sentences of the program and about it: they quote lines, places and numbers.
void without_sentences(Finding& finding) {
  for (std::string* text : {&finding.undone, &finding.allowed, &finding.not_recomputed})
    if (!text->empty()) *text = kLeftOut;
  finding.arrival.clear();
  finding.handed_by.reset();
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void without_source(Site& site) {
  site.code.clear();
  site.source.clear();
  site.before.clear();
  site.after.clear();
  site.function.clear();
  site.remark.clear();
}

void without_path(Site& site) {
  site.file = file_name(site.file);
  site.remark.clear();
}

void without_source(Finding& finding) {
  for_each_site(finding, [](Site& site) { without_source(site); });
  for (Frame& frame : finding.origin.stack) frame.function.clear();
  for_each_tensor(finding, [](TensorFacts& tensor) {
    tensor.name.clear();
    tensor.remark.clear();
  });
  finding.origin.module.reset();
  for_each_harm(finding, [](Harm& harm) {
    harm.name.reset();
    without_text(harm);
  });
  for (Magnitude& magnitude : finding.magnitudes) magnitude.name.clear();
  finding.modules.clear();      // their paths and classes are names of the source
  finding.experiments.clear();  // they quote expressions
  if (finding.forewarning) finding.forewarning->name = kLeftOut;
}

void without_paths(Finding& finding) {
  for_each_site(finding, without_path);
  for (Frame& frame : finding.origin.stack) frame.file = file_name(frame.file);
  for_each_harm(finding, without_text);
}

void without_numbers(Statistics& statistics) {
  statistics.min.reset();
  statistics.max.reset();
  statistics.mean.reset();
}

void without_values(Finding& finding) {
  for_each_tensor(finding, [](TensorFacts& tensor) {
    without_numbers(tensor.statistics);
    if (tensor.feeding) without_numbers(*tensor.feeding);
    if (tensor.diagonal) without_numbers(*tensor.diagonal);
    tensor.at_index.clear();
    tensor.healthy.clear();
    tensor.remark.clear();
    tensor.exponents.reset();
  });
  for_each_link(finding, [](Link& link) {
    if (link.made) link.made->largest.reset();
  });
  for (ScalarFact& scalar : finding.scalars) scalar.value = kLeftOut;
  for (Maker& maker : finding.makers)
    for (ScalarFact& scalar : maker.scalars) scalar.value = kLeftOut;
  finding.exact.reset();
  finding.recomputed.clear();
  finding.experiments.clear();
  finding.history.clear();
  finding.magnitudes.clear();
  for (ModuleFacts& module : finding.modules)
    module.activation = module.weight = module.gradient = std::nullopt;
  if (finding.forewarning) {  // it still is one: nothing has happened yet
    finding.forewarning->value = finding.forewarning->limit = std::nan("");
    finding.origin.value = {.real = std::nan("")};
  }
  for_each_harm(finding, without_text);
}

// What its page says of every such case; evidence is numbers and names.
void without_particulars(Cause& cause) {
  const CauseInfo* info = find_cause(cause.id);
  cause.sentence = info != nullptr ? std::string(info->summary) : "The cause is not known.";
  cause.title = info != nullptr ? std::string(info->title) : "Not explained";
  cause.evidence.clear();
  cause.evidence_of_experiments.clear();
  cause.experiments.clear();
  for (Cause::Other& other : cause.others) other.why_not = kLeftOut;
}

void redact_finding(const Redaction& redaction, Finding& finding) {
  if (redaction.source) without_source(finding);
  if (redaction.paths) without_paths(finding);
  if (redaction.values) without_values(finding);
  without_sentences(finding);
  for (Finding& of_another_rank : finding.elsewhere) redact_finding(redaction, of_another_rank);
}

// Its sentence quotes lines and places.
void redact_rank(const Redaction& redaction, RankLine& line) {
  line.sentence = kLeftOut;
  if (!redaction.paths) return;
  line.host.clear();
  line.capture = file_name(line.capture);
}

void redact_fix(const Redaction& redaction, Fix& fix) {
  fix.explanation = kLeftOut;
  fix.diff.clear();  // lines of source, with the paths of their files
  for (std::string& file : fix.files)
    if (redaction.paths) file = file_name(file);
}

void redact_repair(const Redaction& redaction, Repair& repair) {
  if (repair.fix) redact_fix(redaction, *repair.fix);
  for (Attempt& attempt : repair.tried) attempt.detail = kLeftOut;
  if (!repair.verification) return;
  repair.verification->detail = kLeftOut;
  repair.verification->checks.clear();
  if (!redaction.values) return;
  repair.verification->losses_before.clear();
  repair.verification->losses_after.clear();
}

void redact_program(const Redaction& redaction, Program& program) {
  if (redaction.paths) {
    program.host.clear();
    if (!program.argv.empty()) program.argv[0] = file_name(program.argv[0]);
  }
  // Arguments may be paths, values or code (-c).
  if (program.argv.size() > 1) program.argv.resize(1), program.argv.emplace_back("...");
}

// What was chosen or allowed is named by file, line and module.
void redact_coverage(Coverage& coverage) {
  for (NotWatched& gap : coverage.not_watched) {
    gap.why.clear();
    if (gap.kind == GapKind::kNotChosen) gap.what = "errors outside what was chosen";
  }
  for (Allowance& allowance : coverage.allowed) {
    allowance.what = kLeftOut;
    allowance.why.clear();
  }
}

void redact_intended(const Redaction& redaction, Intended& intended) {
  if (redaction.source) without_source(intended.site);
  if (redaction.paths) without_path(intended.site);
}

}  // namespace

std::vector<std::string> Redaction::words() const {
  std::vector<std::string> words;
  if (source) words.emplace_back("source");
  if (paths) words.emplace_back("paths");
  if (values) words.emplace_back("values");
  return words;
}

Result<Redaction> redaction_of(std::string_view words) {
  Redaction redaction;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(','), words.size());
    const std::string_view word = words.substr(0, end);
    if (word == "source")
      redaction.source = true;
    else if (word == "paths")
      redaction.paths = true;
    else if (word == "values")
      redaction.values = true;
    else
      return Error{ErrorCode::kBadUsage,
                   fmt::format("--redact takes source, paths and values, not {}.", word)};
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return redaction;
}

void redact(const Redaction& redaction, Diagnosed& diagnosed) {
  if (redaction.words().empty()) return;
  Capture& capture = diagnosed.capture;
  for (std::size_t i = 0; i < capture.findings.size(); ++i) {
    redact_finding(redaction, capture.findings[i]);
    without_particulars(diagnosed.causes[i]);
  }
  for (RankLine& line : capture.ranks) redact_rank(redaction, line);
  if (capture.proposal) redact_fix(redaction, *capture.proposal);
  for (Repair& repair : capture.repairs) redact_repair(redaction, repair);
  redact_program(redaction, capture.program);
  if (redaction.paths) diagnosed.name = file_name(diagnosed.name);
  if (redaction.paths || redaction.source) redact_coverage(capture.coverage);
  for (Intended& intended : capture.coverage.intended) redact_intended(redaction, intended);
}

}  // namespace nanscope
