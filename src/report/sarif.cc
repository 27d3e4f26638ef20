#include "report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "capture/secrets.h"
#include "diagnose/causes.h"
#include "diagnose/phrase.h"
#include "records/words.h"
#include "report/journey.h"
#include "report/json_document.h"
#include "report/patch.h"
#include "report/repair.h"
#include "report/sentence.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

constexpr const char* kSarifSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

// FNV-1a: the same on every machine and in every version.
std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

// Where a result without a place stands: the script that ran; of a module or of code from the
// command line the capture, which is the only file that tells of it.
std::string file_of_program(const Diagnosed& diagnosed) {
  const std::vector<std::string>& argv = diagnosed.capture.program.argv;
  const bool is_script = !argv.empty() && !argv[0].empty() && !argv[0].starts_with('-');
  return is_script ? argv[0] : diagnosed.name;
}

// Writes the parts of one log. Knows where paths begin, and the rules that results refer to.
//
// Note [Every place has a file]: SARIF allows a location without one, but GitHub refuses the whole
// log for it. So each location of a result, of its harm and of its way has a file.
class SarifLog {
 public:
  explicit SarifLog(const report::SourceRoot& root) : root_(root) {}

  void add(const Diagnosed& diagnosed) {
    const Capture& capture = diagnosed.capture;
    program_file_ = file_of_program(diagnosed);
    for (std::size_t i = 0; i < capture.findings.size(); ++i)
      results_.push_back(
          result(capture.findings[i], diagnosed.causes[i], report::repair_of(capture, i)));
    invocations_.push_back(invocation(capture));
  }

  [[nodiscard]] Json document(std::string_view version) {
    Json run{{"tool",
              {{"driver",
                {{"name", "nanscope"},
                 {"semanticVersion", version},
                 {"shortDescription",
                  {{"text", "Finds the first operation that made a NaN or Inf, and says why."}}},
                 {"rules", std::move(rules_)}}}}},
             {"columnKind", "unicodeCodePoints"},
             {"invocations", std::move(invocations_)},
             {"results", std::move(results_)}};
    if (!root_.root.empty())
      run["originalUriBaseIds"] = {
          {"SRCROOT", {{"description", {{"text", "The folder that relative paths begin at."}}}}}};
    return {{"$schema", kSarifSchema}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  }

 private:
  static Json text(std::string_view words) { return {{"text", report::safe(words)}}; }

  std::size_t rule_index(const Cause& cause) {
    const auto known = rule_numbers_.find(cause.id);
    if (known != rule_numbers_.end()) return known->second;
    const CauseInfo* info = find_cause(cause.id);
    const std::string_view summary =
        info != nullptr ? info->summary : "A NaN or Inf whose cause is not known.";
    const std::string_view help = info != nullptr ? page_of(cause.id) : summary;
    Json rule{{"id", cause.id},
              {"shortDescription", {{"text", summary}}},
              {"fullDescription", {{"text", summary}}},
              {"help", {{"text", help}, {"markdown", help}}}};
    if (info != nullptr) rule["properties"] = {{"tags", {"numerics", info->to_blame}}};
    rules_.push_back(std::move(rule));
    return rule_numbers_[cause.id] = rules_.size() - 1;
  }

  Json result(const Finding& finding, const Cause& cause, const Repair& repair) {
    const Origin& origin = finding.origin;
    Json json{{"ruleId", cause.id},
              {"ruleIndex", rule_index(cause)},
              {"level", word_of(finding.level)},
              {"message", text(report::deed(finding, cause) + ". " + cause.sentence)},
              {"locations", Json::array({place_of(origin)})},
              {"partialFingerprints", {{"nanscopeFinding/v1", fingerprint(finding, cause)}}}};
    if (finding.harm && has_file(finding.harm->site))
      json["relatedLocations"] = Json::array({harm_location(*finding.harm)});
    if (std::optional<Json> flow = code_flow(finding)) json["codeFlows"] = Json::array({*flow});
    if (!origin.stack.empty()) json["stacks"] = Json::array({stack(origin)});
    if (std::optional<Json> change = fix(repair)) json["fixes"] = Json::array({*change});
    json["properties"] = properties(finding, cause);
    return json;
  }

  static Json properties(const Finding& finding, const Cause& cause) {
    Json json{{"certainty", word_of(cause.certainty)},
              {"toBlame", cause.to_blame},
              {"evidence", cause.evidence},
              {"operation", finding.origin.op},
              {"phase", word_of(finding.origin.phase)},
              {"step", finding.origin.step},
              {"count", finding.count}};
    if (finding.harm) json["harm"] = report::safe(report::harm_text(*finding.harm));
    return json;
  }

  Json artifact(const std::string& file) const {
    const std::string path = report::repository_path(file, root_);
    Json json{{"uri", report::uri_of(path)}};
    if (!root_.root.empty() && !path.starts_with('/')) json["uriBaseId"] = "SRCROOT";
    return json;
  }

  Json physical(const Site& site) const {
    Json json{{"artifactLocation", artifact(site.file)}};
    if (site.line < 1) return json;
    Json region{{"startLine", site.line}};
    const bool columns = site.col >= 0 && (site.end_line > site.line || site.end_col > site.col);
    if (columns && site.end_line >= site.line && site.end_col >= 0) {
      region["startColumn"] = site.col + 1;
      region["endLine"] = site.end_line;
      region["endColumn"] = site.end_col + 1;
    }
    if (!site.code.empty()) region["snippet"] = {{"text", site.code}};
    json["region"] = std::move(region);
    return json;
  }

  Json location(const Site& site, const std::optional<std::string>& module = {}) const {
    Json json = Json::object();
    if (!site.file.empty()) json["physicalLocation"] = physical(site);
    Json logical = Json::array();
    if (!site.function.empty())
      logical.push_back({{"fullyQualifiedName", site.function}, {"kind", "function"}});
    if (module) logical.push_back({{"fullyQualifiedName", *module}, {"kind", "module"}});
    if (!logical.empty()) json["logicalLocations"] = std::move(logical);
    return json;
  }

  // What is about the program as a whole, such as weights, has no line of its own.
  Json place_of(const Origin& origin) const {
    if (!origin.site.file.empty()) return location(origin.site, origin.module);
    Site first_line;
    first_line.file = program_file_;
    first_line.line = 1;
    Json json = location(first_line, origin.module);
    json["message"] = text("About the program as a whole; no line of it is known.");
    return json;
  }

  static bool has_file(const std::optional<Site>& site) { return site && !site->file.empty(); }

  Json harm_location(const Harm& harm) const {
    Json json = location(*harm.site);
    json["id"] = 1;
    json["message"] = text(report::harm_text(harm));
    return json;
  }

  std::optional<Json> code_flow(const Finding& finding) const {
    Json steps = Json::array();
    for (const Link& link : finding.chain) {
      if (!has_file(link.site)) continue;
      const bool harm = link.role == Role::kHarm && finding.harm;
      Json place = location(link.site);
      place["message"] = text(fmt::format("{}: {}", word_of(link.role),
                                          harm ? report::harm_text(*finding.harm) : link.op));
      steps.push_back({{"location", std::move(place)},
                       {"kinds", {word_of(link.role), word_of(link.phase)}},
                       {"importance", link.role == Role::kCarrier ? "important" : "essential"}});
    }
    if (steps.empty()) return std::nullopt;
    return Json{{"message", text("The way it went")},
                {"threadFlows", Json::array({{{"locations", std::move(steps)}}})}};
  }

  Json stack(const Origin& origin) const {
    Json frames = Json::array();
    for (const Frame& frame : origin.stack) {
      Site site;
      site.file = frame.file;
      site.line = frame.line;
      site.function = frame.function;
      frames.push_back({{"location", location(site)}});
    }
    return {{"message", text("Called from")}, {"frames", std::move(frames)}};
  }

  std::optional<Json> fix(const Repair& repair) const {
    if (!repair.fix) return std::nullopt;
    Json changes = Json::array();
    for (const report::FilePatch& patch : report::parse_patch(repair.fix->diff)) {
      Json replacements = Json::array();
      for (const report::Replacement& one : patch.replacements)
        replacements.push_back({{"deletedRegion",
                                 {{"startLine", one.first},
                                  {"startColumn", 1},
                                  {"endLine", one.first + one.removed},
                                  {"endColumn", 1}}},
                                {"insertedContent", {{"text", one.inserted}}}});
      if (!replacements.empty())
        changes.push_back({{"artifactLocation", artifact(patch.file)},
                           {"replacements", std::move(replacements)}});
    }
    if (changes.empty()) return std::nullopt;
    return Json{{"description", text(repair.fix->id + ": " + repair.fix->explanation)},
                {"artifactChanges", std::move(changes)}};
  }

  // The same finding after an edit elsewhere in the file has the same one; of twins each its own.
  std::string fingerprint(const Finding& finding, const Cause& cause) {
    const Site& site = finding.origin.site;
    std::string key;
    for (const std::string& part : {cause.id, report::repository_path(site.file, root_),
                                    site.function, site.code, finding.origin.op})
      key += part + '\0';
    const std::string hash = hash_of(key);
    return fmt::format("{}:{}", hash, ++seen_[hash]);
  }

  static std::string gap_text(const NotWatched& gap) {
    const std::string why = gap.why.empty() ? "" : fmt::format(" ({})", gap.why);
    return fmt::format("Not watched: {}{}, {}.", gap.what, why, plural(gap.count, "time"));
  }

  static Json invocation(const Capture& capture) {
    const Program& program = capture.program;
    Json json{{"executionSuccessful", program.ended == Ended::kNormally},
              {"arguments", mask_secrets(program.argv)}};
    if (program.exit_status) json["exitCode"] = *program.exit_status;
    if (capture.coverage.not_watched.empty()) return json;
    Json gaps = Json::array();
    for (const NotWatched& gap : capture.coverage.not_watched)
      gaps.push_back({{"level", "warning"}, {"message", text(gap_text(gap))}});
    json["toolExecutionNotifications"] = std::move(gaps);
    return json;
  }

  const report::SourceRoot& root_;
  std::string program_file_;  // of the capture that is being added
  Json rules_ = Json::array();
  Json results_ = Json::array();
  Json invocations_ = Json::array();
  std::map<std::string, std::size_t> rule_numbers_;
  std::map<std::string, int> seen_;
};

}  // namespace

std::string sarif_report(const std::vector<Diagnosed>& captures, const report::SourceRoot& root,
                         std::string_view version) {
  SarifLog log(root);
  for (const Diagnosed& capture : captures) log.add(capture);
  return json_text(log.document(version)) + "\n";
}

}  // namespace nanscope
