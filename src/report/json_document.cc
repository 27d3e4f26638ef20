#include "report/json_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/harmless_json.h"
#include "capture/secrets.h"
#include "diagnose/catalogue.h"
#include "diagnose/received.h"
#include "records/words.h"
#include "report/journey.h"
#include "report/json_number.h"
#include "report/picture_json.h"
#include "report/repair.h"
#include "report/sentence.h"
#include "report/summary.h"

namespace nanscope {
namespace {

using report::number_json;

template <class T, class F>
Json list_of(const std::vector<T>& entries, F one) {
  Json list = Json::array();
  for (const T& entry : entries) list.push_back(one(entry));
  return list;
}

template <class T>
Json or_null(const std::optional<T>& maybe) {
  return maybe ? Json(*maybe) : Json(nullptr);
}

Json optional_number(const std::optional<double>& value) { return number_json(value); }

Json value_of(const Value& value) {
  if (!value.is_complex) return number_json(value.real);
  const double nan = std::numeric_limits<double>::quiet_NaN();  // without a sign
  const double real = std::isnan(value.real) ? nan : value.real;
  const double imag = std::isnan(value.imag) ? nan : value.imag;
  return fmt::format("{}{:+}j", real, imag);
}

Json site_of(const Site& site) {
  Json json{{"file", site.file},        {"line", site.line},       {"end_line", site.end_line},
            {"col", site.col},          {"end_col", site.end_col}, {"code", site.code},
            {"function", site.function}};
  if (!site.remark.empty()) json["remark"] = site.remark;
  return json;
}

// With its lines and those around it, which a page shows.
Json site_with_source(const Site& site) {
  Json json = site_of(site);
  if (!site.source.empty()) json["source"] = site.source;
  if (!site.before.empty()) json["before"] = site.before;
  if (!site.after.empty()) json["after"] = site.after;
  return json;
}

Json site_or_null(const std::optional<Site>& site) { return site ? site_of(*site) : Json(nullptr); }

Json frame_of(const Frame& frame) {
  return {{"file", frame.file}, {"line", frame.line}, {"function", frame.function}};
}

Json giver_of(const Giver& giver) {
  return {{"rank", giver.rank},
          {"nan", giver.nan},
          {"pos_inf", giver.pos_inf},
          {"neg_inf", giver.neg_inf}};
}

// For readers of the JSON from before `message`.
std::string way_of(const std::optional<Message>& message) {
  if (!message) return {};
  return fmt::format("{}>{} tag {}", message->sender ? fmt::to_string(*message->sender) : "any",
                     message->receiver, message->tag);
}

Json message_of(const std::optional<Message>& message) {
  if (!message) return nullptr;
  return {
      {"sender", or_null(message->sender)}, {"receiver", message->receiver}, {"tag", message->tag}};
}

Json collective_of(const Collective& call) {
  return {{"op", call.op},
          {"name", collective_name(call)},
          {"group", call.group},
          {"way", way_of(call.message)},
          {"message", message_of(call.message)},
          {"sequence", call.sequence},
          {"ranks", call.ranks},
          {"bucket", or_null(call.bucket)},
          {"givers", list_of(call.givers, giver_of)},
          {"givers_known", call.givers_known}};
}

Json origin_of(const Origin& origin) {
  Json json{{"kind", word_of(origin.kind)},
            {"phase", word_of(origin.phase)},
            {"op", origin.op},
            {"node", or_null(origin.node)},
            {"site", site_with_source(origin.site)},
            {"library_site", site_or_null(origin.library_site)},
            {"stack", list_of(origin.stack, frame_of)},
            {"module", or_null(origin.module)},
            {"step", origin.step},
            {"rank", or_null(origin.rank)},
            {"worker", or_null(origin.worker)},
            {"output", origin.output},
            {"index", origin.indices.empty() ? Json(nullptr) : Json(origin.indices[0])},
            {"value", value_of(origin.value)},
            {"nan", origin.nan},
            {"pos_inf", origin.pos_inf},
            {"neg_inf", origin.neg_inf},
            {"numel", origin.numel},
            {"indices", origin.indices},
            {"per_element", origin.per_element},
            {"in_backward_code", origin.in_backward_code}};
  if (origin.collective) json["collective"] = collective_of(*origin.collective);
  return json;
}

Json harm_of(const std::optional<Harm>& harm) {
  if (!harm) return nullptr;
  return {{"kind", word_of(harm->kind)}, {"site", site_or_null(harm->site)},
          {"step", harm->step},          {"name", or_null(harm->name)},
          {"text", harm->text},          {"sentence", report::harm_text(*harm)}};
}

Json made_of(const Made& made) {
  Json json{{"dtype", made.dtype}, {"shape", made.shape}};
  if (!made.counted) return json;
  json["nan"] = made.nan;
  json["pos_inf"] = made.pos_inf;
  json["neg_inf"] = made.neg_inf;
  json["largest"] = number_json(made.largest);
  return json;
}

Json link_of(const Link& link) {
  Json json{{"op", link.op},
            {"site", site_of(link.site)},
            {"phase", word_of(link.phase)},
            {"role", word_of(link.role)}};
  if (link.made) json["made"] = made_of(*link.made);
  return json;
}

Json rank_way_of(const RankWay& way) {
  return {{"rank", way.rank < 0 ? Json(nullptr) : Json(way.rank)},
          {"call", call_text(way.collective)},
          {"collective", collective_of(way.collective)},
          {"chain", list_of(way.chain, link_of)},
          {"chain_truncated", way.chain_truncated},
          {"harm", harm_of(way.harm)}};
}

void add_statistics(const Statistics& s, Json& json) {
  json["min"] = number_json(s.min);
  json["max"] = number_json(s.max);
  json["mean"] = number_json(s.mean);
  json["zeros"] = s.zeros;
  json["negatives"] = s.negatives;
  json["subnormals"] = s.subnormals;
  json["nan"] = s.nan;
  json["pos_inf"] = s.pos_inf;
  json["neg_inf"] = s.neg_inf;
}

Json feeding_of(const Statistics& s) {
  Json json{{"numel", s.numel}};
  add_statistics(s, json);
  return json;
}

Json tensor_of(const TensorFacts& tensor) {
  Json json{{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}};
  add_statistics(tensor.statistics, json);
  json["at_index"] = list_of(tensor.at_index, value_of);
  if (!tensor.healthy.empty()) json["healthy"] = list_of(tensor.healthy, value_of);
  if (tensor.feeding) json["feeding"] = feeding_of(*tensor.feeding);
  if (!tensor.remark.empty()) json["remark"] = tensor.remark;
  if (!argument_text(tensor).empty()) json["argument"] = argument_text(tensor);
  if (tensor.saved) json["saved"] = tensor.argument;
  if (tensor.parameter) json["parameter"] = true;
  if (tensor.requires_grad) json["requires_grad"] = true;
  if (!tensor.device.empty()) json["device"] = tensor.device;
  report::add_pictures(tensor, json);
  return json;
}

Json scalar_of(const ScalarFact& scalar) {
  return {{"name", scalar.name}, {"value", scalar.value}};
}

Json cause_of(const Cause& cause) {
  const auto other = [](const Cause::Other& o) {
    return Json{{"id", o.id}, {"why_not", o.why_not}, {"shows", o.shows}};
  };
  const auto experiment = [](const Cause::Experiment& e) {
    Json json{{"what", e.what}, {"result", e.result}};
    if (e.exactly) json["exactly"] = *e.exactly;
    return json;
  };
  return {{"id", cause.id},
          {"title", cause.title},
          {"certainty", word_of(cause.certainty)},
          {"to_blame", cause.to_blame},
          {"sentence", cause.sentence},
          {"evidence", cause.evidence},
          {"evidence_of_experiments", cause.evidence_of_experiments},
          {"others", list_of(cause.others, other)},
          {"experiments", list_of(cause.experiments, experiment)}};
}

Json fix_of(const std::optional<Fix>& fix) {
  if (!fix) return nullptr;
  return {{"id", fix->id},
          {"diff", fix->diff},
          {"files", fix->files},
          {"explanation", fix->explanation},
          {"changes_training", fix->changes_training},
          {"workaround", fix->workaround},
          {"applied", fix->applied}};
}

Json verification_of(const std::optional<Verification>& verification, bool proposed) {
  const char* why = proposed ? "The patch was not run: `nanscope fix` tries it."
                             : "`nanscope fix` proposes a patch and runs it.";
  Verification shown = verification.value_or(Verification{});
  if (!verification) {
    shown.status = "not_run";
    shown.detail = why;
  }
  Json json{{"status", shown.status},
            {"steps", shown.steps},
            {"healthy_steps_unchanged", or_null(shown.healthy_steps_unchanged)},
            {"detail", shown.detail},
            {"checks", shown.checks}};
  if (!shown.losses_before.empty() || !shown.losses_after.empty()) {
    json["first_loss"] = shown.first_loss;
    json["losses_before"] = list_of(shown.losses_before, optional_number);
    json["losses_after"] = list_of(shown.losses_after, optional_number);
  }
  return json;
}

Json attempt_of(const Attempt& attempt) {
  return {{"id", attempt.id}, {"status", attempt.status}, {"detail", attempt.detail}};
}

Json recomputed_of(const Recomputed& again) {
  return {{"dtype", again.dtype}, {"values", list_of(again.values, value_of)}};
}

Json maker_of(const Maker& maker) {
  return {{"node", maker.node},
          {"site", site_of(maker.site)},
          {"links_back", maker.links_back},
          {"tensors", list_of(maker.tensors, tensor_of)},
          {"scalars", list_of(maker.scalars, scalar_of)}};
}

Json step_of(const StepRecord& record) {
  return {{"step", record.step},
          {"loss", number_json(record.loss)},
          {"gradient_norm", number_json(record.gradient_norm)},
          {"largest_parameter", number_json(record.largest_parameter)},
          {"update_ratio", number_json(record.update_ratio)},
          {"learning_rate", number_json(record.learning_rate)},
          {"loss_scale", number_json(record.loss_scale)}};
}

Json magnitude_of(const Magnitude& magnitude) {
  return {{"name", magnitude.name},
          {"largest", number_json(magnitude.largest)},
          {"gradient", magnitude.gradient}};
}

Json forewarning_of(const Forewarning& forewarning) {
  const auto or_left_out = [](double number) {
    return std::isnan(number) ? Json(nullptr) : number_json(number);
  };
  return {{"name", forewarning.name},
          {"dtype", forewarning.dtype},
          {"value", or_left_out(forewarning.value)},
          {"limit", or_left_out(forewarning.limit)},
          {"steps", forewarning.steps}};
}

Json only_compiled_of(const OnlyCompiled& only) {
  const auto or_none = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"kernel", or_none(only.kernel)},
          {"lines", list_of(only.lines,
                            [](const Site& site) {
                              return Json{{"file", site.file}, {"line", site.line}};
                            })},
          {"rounded_to", or_none(only.rounded_to)},
          {"setting", or_none(only.setting)},
          {"setting_value", or_none(only.setting_value)}};
}

Json cleaned_of(const Finding& finding) {
  Json list = Json::array();
  for (const Link& link : finding.cleaned) {
    const bool known = link.parent && *link.parent >= 0 &&
                       static_cast<std::size_t>(*link.parent) < finding.chain.size();
    list.push_back(link_of(link));
    list.back()["parent"] = known ? Json(*link.parent) : Json();
  }
  return list;
}

Json finding_of(const Finding& finding, const Cause& cause, const Repair& repair) {
  Json json{{"level", word_of(finding.level)},
            {"headline", report::headline(finding, cause)},
            {"deed", report::deed(finding, cause)},
            {"origin", origin_of(finding.origin)},
            {"harm", harm_of(finding.harm)},
            {"chain", list_of(finding.chain, link_of)},
            {"chain_truncated", finding.chain_truncated},
            {"inputs", list_of(finding.inputs, tensor_of)},
            {"outputs", list_of(finding.outputs, tensor_of)},
            {"cause", cause_of(cause)},
            {"fix", fix_of(repair.fix)},
            {"verification", verification_of(repair.verification, repair.fix.has_value())},
            {"scalars", list_of(finding.scalars, scalar_of)},
            {"count", finding.count},
            {"recomputed", list_of(finding.recomputed, recomputed_of)},
            {"makers", list_of(finding.makers, maker_of)},
            {"history", list_of(finding.history, step_of)},
            {"magnitudes", list_of(finding.magnitudes, magnitude_of)},
            {"fate", finding.fate.empty() ? Json() : Json(finding.fate)}};
  if (!finding.undone.empty()) json["undone"] = finding.undone;
  if (!finding.allowed.empty()) json["allowed"] = finding.allowed;
  if (!finding.cleaned.empty()) json["cleaned"] = cleaned_of(finding);
  if (finding.cleaned_more > 0) json["cleaned_more"] = finding.cleaned_more;
  report::add_modules(finding, json);
  if (finding.inputs_left_out > 0) json["inputs_left_out"] = finding.inputs_left_out;
  if (finding.forewarning) json["forewarning"] = forewarning_of(*finding.forewarning);
  if (finding.only_compiled) json["only_compiled"] = only_compiled_of(*finding.only_compiled);
  if (!finding.given.empty()) json["given"] = list_of(finding.given, collective_of);
  if (!finding.elsewhere.empty()) {
    const auto story = [](const Finding& other) {
      return Json{{"origin", origin_of(other.origin)}, {"cause", cause_of(diagnose(other))}};
    };
    json["elsewhere"] = list_of(finding.elsewhere, story);
  }
  if (!finding.received_by.empty()) json["received_by"] = list_of(finding.received_by, rank_way_of);
  if (finding.received_by_more > 0) json["received_by_more"] = finding.received_by_more;
  if (!repair.tried.empty()) json["tried"] = list_of(repair.tried, attempt_of);
  return json;
}

Json findings_in_order(const Diagnosed& diagnosed) {
  const std::vector<Finding>& findings = diagnosed.capture.findings;
  Json list = Json::array();
  for (const Level level : {Level::kError, Level::kWarning, Level::kNote})
    for (std::size_t i = 0; i < findings.size(); ++i)
      if (findings[i].level == level)
        list.push_back(
            finding_of(findings[i], diagnosed.causes[i], report::repair_of(diagnosed.capture, i)));
  return list;
}

Json program_of(const Program& program) {
  Json json{{"argv", mask_secrets(program.argv)},
            {"python", program.python},
            {"torch", program.torch},
            {"mode", program.mode},
            {"pid", program.pid},
            {"host", program.host},
            {"exit_status", or_null(program.exit_status)},
            {"ended", program.ended ? Json(word_of(*program.ended)) : Json(nullptr)}};
  if (!program.devices.empty()) json["devices"] = program.devices;
  if (program.rank) json["rank"] = *program.rank;
  if (program.world_size) json["world_size"] = *program.world_size;
  if (program.seconds) json["seconds"] = number_json(*program.seconds);
  if (program.own_seconds) json["own_seconds"] = number_json(*program.own_seconds);
  return json;
}

Json rank_of(const RankLine& line) {
  return {{"rank", line.rank < 0 ? Json(nullptr) : Json(line.rank)},
          {"host", line.host},
          {"pid", line.pid},
          {"capture", line.capture.empty() ? Json(nullptr) : Json(line.capture)},
          {"sentence", line.sentence}};
}

Json coverage_of(const Coverage& coverage) {
  const auto gap = [](const NotWatched& g) {
    return Json{{"what", g.what}, {"why", g.why}, {"count", g.count}};
  };
  const auto allowance = [](const Allowance& a) {
    return Json{{"what", a.what}, {"why", a.why}, {"count", a.count}};
  };
  Json json{{"ops_watched", coverage.ops_watched},
            {"bytes_scanned", coverage.bytes_scanned},
            {"steps", coverage.steps},
            {"not_watched", list_of(coverage.not_watched, gap)}};
  if (!coverage.allowed.empty()) json["allowed"] = list_of(coverage.allowed, allowance);
  const auto intended = [](const Intended& i) {
    return Json{{"op", i.op},
                {"site", site_of(i.site)},
                {"value", value_of(i.value)},
                {"count", i.count},
                {"fate", i.fate}};
  };
  if (!coverage.intended.empty()) json["intended"] = list_of(coverage.intended, intended);
  if (coverage.intended_more > 0) json["intended_more"] = coverage.intended_more;
  return json;
}

}  // namespace

Json json_document(const Diagnosed& diagnosed) {
  const Capture& capture = diagnosed.capture;
  const Summary summary = summary_of(capture);
  Json json{{"schema", "nanscope/1"},
            {"verdict", verdict_of(capture)},
            {"summary", summary_line(capture)},
            {"summary_title", summary.title},
            {"summary_detail", summary.detail},
            {"complete", capture.complete},
            {"program", program_of(capture.program)},
            {"findings", findings_in_order(diagnosed)},
            {"coverage", coverage_of(capture.coverage)}};
  if (!capture.ranks.empty()) json["ranks"] = list_of(capture.ranks, rank_of);
  return json;
}

std::string json_text(const Json& document, int indent) {
  return harmless_json(document.dump(indent, ' ', false, Json::error_handler_t::replace));
}

Json json_of(const Finding& finding) { return finding_of(finding, diagnose(finding), {}); }

}  // namespace nanscope
