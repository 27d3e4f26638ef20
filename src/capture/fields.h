// The fields of every record, listed once.
//
// The encoder and the decoder are two visitors over these lists, so a field can
// not be written and then forgotten by the reader. A field added at the end of a
// struct of src/records gets one line here; older captures simply lack it.
#pragma once

#include <concepts>
#include <type_traits>

#include "records/capture.h"

namespace nanscope {

template <class T, class Record>
concept A = std::same_as<std::remove_cvref_t<T>, Record>;

void fields(auto& visit, A<Site> auto& site) {
  visit("file", site.file);
  visit("line", site.line);
  visit("end_line", site.end_line);
  visit("col", site.col);
  visit("end_col", site.end_col);
  visit("code", site.code);
  visit("function", site.function);
  visit("source", site.source);
  visit("remark", site.remark);
  visit("before", site.before);
  visit("after", site.after);
}

void fields(auto& visit, A<Frame> auto& frame) {
  visit("file", frame.file);
  visit("line", frame.line);
  visit("function", frame.function);
  visit("own", frame.own);
}

void fields(auto& visit, A<Statistics> auto& statistics) {
  visit("numel", statistics.numel);
  visit("nan", statistics.nan);
  visit("pos_inf", statistics.pos_inf);
  visit("neg_inf", statistics.neg_inf);
  visit("zeros", statistics.zeros);
  visit("negatives", statistics.negatives);
  visit("subnormals", statistics.subnormals);
  visit("min", statistics.min);
  visit("max", statistics.max);
  visit("mean", statistics.mean);
}

void fields(auto& visit, A<ExponentHistogram> auto& histogram) {
  visit("first", histogram.first);
  visit("width", histogram.width);
  visit("bins", histogram.bins);
  visit("looked_at", histogram.looked_at);
}

void fields(auto& visit, A<BadMap> auto& map) {
  visit("rows", map.rows);
  visit("columns", map.columns);
  visit("cells", map.cells);
}

void fields(auto& visit, A<ModuleFacts> auto& module) {
  visit("path", module.path);
  visit("type", module.type);
  visit("activation", module.activation);
  visit("activation_dtype", module.activation_dtype);
  visit("weight", module.weight);
  visit("gradient", module.gradient);
  visit("weight_dtype", module.weight_dtype);
}

void fields(auto& visit, A<TensorFacts> auto& tensor) {
  visit("name", tensor.name);
  visit("dtype", tensor.dtype);
  visit("shape", tensor.shape);
  visit("statistics", tensor.statistics);
  visit("at_index", tensor.at_index);
  visit("remark", tensor.remark);
  visit("argument", tensor.argument);
  visit("saved", tensor.saved);
  visit("feeding", tensor.feeding);
  visit("diagonal", tensor.diagonal);
  visit("parameter", tensor.parameter);
  visit("requires_grad", tensor.requires_grad);
  visit("healthy", tensor.healthy);
  visit("exponents", tensor.exponents);
  visit("bad_map", tensor.bad_map);
  visit("device", tensor.device);
}

void fields(auto& visit, A<ScalarFact> auto& scalar) {
  visit("name", scalar.name);
  visit("value", scalar.value);
}

void fields(auto& visit, A<Maker> auto& maker) {
  visit("node", maker.node);
  visit("site", maker.site);
  visit("tensors", maker.tensors);
  visit("scalars", maker.scalars);
  visit("links_back", maker.links_back);
  visit("makes", maker.makes);
}

void fields(auto& visit, A<Recomputed> auto& again) {
  visit("dtype", again.dtype);
  visit("values", again.values);
}

void fields(auto& visit, A<StepRecord> auto& record) {
  visit("step", record.step);
  visit("loss", record.loss);
  visit("gradient_norm", record.gradient_norm);
  visit("largest_parameter", record.largest_parameter);
  visit("update_ratio", record.update_ratio);
  visit("learning_rate", record.learning_rate);
  visit("loss_scale", record.loss_scale);
}

void fields(auto& visit, A<Magnitude> auto& magnitude) {
  visit("name", magnitude.name);
  visit("largest", magnitude.largest);
  visit("gradient", magnitude.gradient);
}

void fields(auto& visit, A<Forewarning> auto& warning) {
  visit("id", warning.id);
  visit("name", warning.name);
  visit("dtype", warning.dtype);
  visit("value", warning.value);
  visit("limit", warning.limit);
  visit("steps", warning.steps);
  visit("goes_in", warning.goes_in);
}

void fields(auto& visit, A<Giver> auto& giver) {
  visit("rank", giver.rank);
  visit("nan", giver.nan);
  visit("pos_inf", giver.pos_inf);
  visit("neg_inf", giver.neg_inf);
}

void fields(auto& visit, A<Message> auto& message) {
  visit("sender", message.sender);
  visit("receiver", message.receiver);
  visit("tag", message.tag);
}

void fields(auto& visit, A<Collective> auto& collective) {
  visit("op", collective.op);
  visit("group", collective.group);
  visit("message", collective.message);
  visit("sequence", collective.sequence);
  visit("ranks", collective.ranks);
  visit("reduces", collective.reduces);
  visit("bucket", collective.bucket);
  visit("givers", collective.givers);
  visit("givers_known", collective.givers_known);
}

void fields(auto& visit, A<Origin> auto& origin) {
  visit("kind", origin.kind);
  visit("phase", origin.phase);
  visit("op", origin.op);
  visit("node", origin.node);
  visit("site", origin.site);
  visit("library_site", origin.library_site);
  visit("stack", origin.stack);
  visit("module", origin.module);
  visit("step", origin.step);
  visit("rank", origin.rank);
  visit("worker", origin.worker);
  visit("output", origin.output);
  visit("indices", origin.indices);
  visit("value", origin.value);
  visit("nan", origin.nan);
  visit("pos_inf", origin.pos_inf);
  visit("neg_inf", origin.neg_inf);
  visit("numel", origin.numel);
  visit("per_element", origin.per_element);
  visit("in_backward_code", origin.in_backward_code);
  visit("discarded", origin.discarded);
  visit("was_finite", origin.was_finite);
  visit("left_before", origin.left_before);
  visit("from_other_device", origin.from_other_device);
  visit("written_since", origin.written_since);
  visit("reinterpreted", origin.reinterpreted);
  visit("viewed_as", origin.viewed_as);
  visit("not_spelled", origin.not_spelled);
  visit("collective", origin.collective);
}

void fields(auto& visit, A<Harm> auto& harm) {
  visit("kind", harm.kind);
  visit("site", harm.site);
  visit("step", harm.step);
  visit("name", harm.name);
  visit("text", harm.text);
}

void fields(auto& visit, A<Made> auto& made) {
  visit("dtype", made.dtype);
  visit("shape", made.shape);
  visit("counted", made.counted);
  visit("nan", made.nan);
  visit("pos_inf", made.pos_inf);
  visit("neg_inf", made.neg_inf);
  visit("largest", made.largest);
}

void fields(auto& visit, A<Link> auto& link) {
  visit("op", link.op);
  visit("site", link.site);
  visit("phase", link.phase);
  visit("role", link.role);
  visit("made", link.made);
  visit("parent", link.parent);
}

void fields(auto& visit, A<Experiment> auto& experiment) {
  visit("kind", experiment.kind);
  visit("argument", experiment.argument);
  visit("given", experiment.given);
  visit("result", experiment.result);
  visit("code", experiment.code);
  visit("lost_at", experiment.lost_at);
  visit("lost_line", experiment.lost_line);
  visit("loss", experiment.loss);
  visit("guard", experiment.guard);
  visit("before", experiment.before);
  visit("exactly", experiment.exactly);
}

void fields(auto& visit, A<OnlyCompiled> auto& only) {
  visit("kernel", only.kernel);
  visit("lines", only.lines);
  visit("rounded_to", only.rounded_to);
  visit("setting", only.setting);
  visit("setting_value", only.setting_value);
}

void fields(auto& visit, A<HandedOver> auto& hand) {
  visit("pid", hand.pid);
  visit("worker", hand.worker);
  visit("exact", hand.exact);
}

void fields(auto& visit, A<Finding> auto& finding) {
  visit("level", finding.level);
  visit("origin", finding.origin);
  visit("harm", finding.harm);
  visit("chain", finding.chain);
  visit("chain_truncated", finding.chain_truncated);
  visit("inputs", finding.inputs);
  visit("outputs", finding.outputs);
  visit("scalars", finding.scalars);
  visit("count", finding.count);
  visit("exact", finding.exact);
  visit("inputs_left_out", finding.inputs_left_out);
  visit("recomputed", finding.recomputed);
  visit("not_recomputed", finding.not_recomputed);
  visit("makers", finding.makers);
  visit("history", finding.history);
  visit("magnitudes", finding.magnitudes);
  visit("forewarning", finding.forewarning);
  visit("fate", finding.fate);
  visit("undone", finding.undone);
  visit("allowed", finding.allowed);
  visit("cleaned", finding.cleaned);
  visit("cleaned_more", finding.cleaned_more);
  visit("modules", finding.modules);
  visit("modules_left_out", finding.modules_left_out);
  visit("experiments", finding.experiments);
  visit("left_out_by", finding.left_out_by);
  visit("arrival", finding.arrival);
  visit("handed_by", finding.handed_by);
  visit("arrival_is_likely", finding.arrival_is_likely);
  visit("only_compiled", finding.only_compiled);
  visit("elsewhere", finding.elsewhere);
  visit("given", finding.given);
}

void fields(auto& visit, A<Withdrawal> auto& withdrawal) {
  visit("finding", withdrawal.finding);
  visit("undone", withdrawal.undone);
}

void fields(auto& visit, A<Fix> auto& fix) {
  visit("id", fix.id);
  visit("diff", fix.diff);
  visit("files", fix.files);
  visit("explanation", fix.explanation);
  visit("changes_training", fix.changes_training);
  visit("workaround", fix.workaround);
  visit("applied", fix.applied);
}

void fields(auto& visit, A<Verification> auto& verification) {
  visit("status", verification.status);
  visit("steps", verification.steps);
  visit("healthy_steps_unchanged", verification.healthy_steps_unchanged);
  visit("detail", verification.detail);
  visit("checks", verification.checks);
  visit("first_loss", verification.first_loss);
  visit("losses_before", verification.losses_before);
  visit("losses_after", verification.losses_after);
}

void fields(auto& visit, A<Attempt> auto& attempt) {
  visit("id", attempt.id);
  visit("status", attempt.status);
  visit("detail", attempt.detail);
}

void fields(auto& visit, A<Repair> auto& repair) {
  visit("finding", repair.finding);
  visit("fix", repair.fix);
  visit("verification", repair.verification);
  visit("tried", repair.tried);
}

void fields(auto& visit, A<Program> auto& program) {
  visit("argv", program.argv);
  visit("python", program.python);
  visit("torch", program.torch);
  visit("mode", program.mode);
  visit("pid", program.pid);
  visit("host", program.host);
  visit("exit_status", program.exit_status);
  visit("ended", program.ended);
  visit("devices", program.devices);
  visit("seconds", program.seconds);
  visit("own_seconds", program.own_seconds);
  visit("rank", program.rank);
  visit("world_size", program.world_size);
}

void fields(auto& visit, A<NotWatched> auto& gap) {
  visit("what", gap.what);
  visit("why", gap.why);
  visit("count", gap.count);
  visit("kind", gap.kind);
}

void fields(auto& visit, A<Allowance> auto& allowance) {
  visit("what", allowance.what);
  visit("why", allowance.why);
  visit("count", allowance.count);
}

void fields(auto& visit, A<Intended> auto& intended) {
  visit("op", intended.op);
  visit("site", intended.site);
  visit("value", intended.value);
  visit("count", intended.count);
  visit("fate", intended.fate);
}

void fields(auto& visit, A<Coverage> auto& coverage) {
  visit("ops_watched", coverage.ops_watched);
  visit("bytes_scanned", coverage.bytes_scanned);
  visit("steps", coverage.steps);
  visit("not_watched", coverage.not_watched);
  visit("allowed", coverage.allowed);
  visit("intended", coverage.intended);
  visit("intended_more", coverage.intended_more);
}

}  // namespace nanscope
