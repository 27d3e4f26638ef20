// received_from_rank, overflow_in_reduction: what a collective brought from other ranks, or made
// of what they gave.

#include "diagnose/received.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope {
namespace {

// As torch.distributed calls what torch's schemas call otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kNames = {{
    {"allreduce_", "all_reduce"},
    {"allreduce_coalesced_", "all_reduce_coalesced"},
    {"allgather_", "all_gather"},
    {"allgather_coalesced_", "all_gather_coalesced"},
    {"_allgather_base_", "all_gather_into_tensor"},
    {"allgather_into_tensor_coalesced_", "all_gather_into_tensor"},
    {"reduce_scatter_", "reduce_scatter"},
    {"_reduce_scatter_base_", "reduce_scatter_tensor"},
    {"reduce_scatter_tensor_coalesced_", "reduce_scatter_tensor"},
    {"alltoall_", "all_to_all"},
    {"alltoall_base_", "all_to_all_single"},
    {"broadcast_", "broadcast"},
    {"reduce_", "reduce"},
    {"gather_", "gather"},
    {"scatter_", "scatter"},
}};

std::string amounts(const Giver& giver) {
  std::vector<std::string> parts;
  const auto add = [&](std::int64_t count, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", grouped(count), what));
  };
  add(giver.nan, "nan");
  add(giver.pos_inf, "inf");
  add(giver.neg_inf, "-inf");
  return joined(parts, " and ");
}

std::string way_text(const Message& message) {
  const std::string from = message.sender ? fmt::format("rank {}", *message.sender) : "any rank";
  return fmt::format("from {} to rank {} (tag {})", from, message.receiver, message.tag);
}

}  // namespace

std::string collective_name(const Collective& call) {
  const std::size_t colons = call.op.find("::");
  const std::string_view name =
      std::string_view(call.op).substr(colons == std::string::npos ? 0 : colons + 2);
  for (const auto& [op, called] : kNames)
    if (name == op) return std::string(called);
  return std::string(name);
}

std::string call_text(const Collective& call) {
  if (call.message)
    return fmt::format("message number {} {} of group {}", grouped(call.sequence),
                       way_text(*call.message), call.group);
  std::string text = fmt::format("{} number {} of group {}", collective_name(call),
                                 grouped(call.sequence), call.group);
  if (call.bucket) text += fmt::format(" (DDP bucket {})", *call.bucket);
  return text;
}

std::string givers_text(const Collective& call) {
  std::vector<std::string> parts;
  for (const Giver& giver : call.givers)
    parts.push_back(fmt::format("rank {} gave {}", giver.rank, amounts(giver)));
  return joined(parts, ", ");
}

namespace diagnosis {
namespace {

void add_origins(const Finding& finding, std::vector<std::string>& evidence) {
  for (const Finding& other : finding.elsewhere) {
    if (!other.origin.rank) continue;
    const Origin& there = other.origin;
    const std::string place = fmt::format("{}:{}", there.site.file, there.site.line);
    if (there.kind == OriginKind::kReceived && there.collective)
      evidence.push_back(fmt::format("rank {} had received it in {}; {}", *there.rank,
                                     call_text(*there.collective), givers_text(*there.collective)));
    else
      evidence.push_back(fmt::format("on rank {}, step {}: {} at {}", *there.rank,
                                     grouped(there.step), there.op, place));
  }
}

// inf on one rank and -inf on another.
bool is_made_of_infinities(const Collective& call, const Origin& origin) {
  const auto gave_nan = [](const Giver& giver) { return giver.nan > 0; };
  return call.reduces && !call.givers.empty() && origin.nan > 0 &&
         std::none_of(call.givers.begin(), call.givers.end(), gave_nan);
}

}  // namespace

void received(const Facts& facts, Opinions& opinions) {
  const Finding& finding = facts.finding();
  const Origin& origin = finding.origin;
  if (origin.kind != OriginKind::kReceived) return;
  std::vector<std::string> evidence{bad_elements(origin)};
  if (!origin.collective) {
    opinions.push_back({Opinion::Stand::kLikely, "received_from_rank",
                        fmt::format("{} came from another rank; which call brought it is not "
                                    "known any more.",
                                    facts.value()),
                        evidence});
    return;
  }
  const Collective& call = *origin.collective;
  if (call.givers_known && call.givers.empty() && call.reduces) {
    evidence.push_back(
        fmt::format("all {} ranks of the group gave finite numbers alone", call.ranks));
    opinions.push_back({Opinion::Stand::kLikely, "overflow_in_reduction",
                        fmt::format("{} made {} of finite numbers: the reduction itself left the "
                                    "range of its type. No rank is to blame.",
                                    call_text(call), facts.value()),
                        evidence});
    return;
  }
  const std::string givers = givers_text(call);
  if (!call.givers_known)
    evidence.emplace_back(
        "not every rank could be asked what it gave: it is not watched, or the "
        "store of the process group is gone");
  if (is_made_of_infinities(call, origin))
    evidence.emplace_back("no rank gave a nan: reducing infinities made it");
  add_origins(finding, evidence);
  opinions.push_back(
      {call.givers_known ? Opinion::Stand::kCertain : Opinion::Stand::kLikely, "received_from_rank",
       givers.empty()
           ? fmt::format("It was received in {}; which rank gave it is not known.", call_text(call))
           : fmt::format("It was received in {}: {} into it.", call_text(call), givers),
       evidence});
}

}  // namespace diagnosis
}  // namespace nanscope
