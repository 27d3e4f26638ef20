#include "checkpoint/pickle.h"

namespace nanscope::checkpoint {

std::int64_t Pickle::integer(Ref ref) const {
  const PickleValue& value = values_[ref];
  const bool whole = value.kind == PickleKind::kInteger || value.kind == PickleKind::kBool;
  return whole ? value.integer : 0;
}

double Pickle::number(Ref ref) const {
  return is(ref, PickleKind::kFloat) ? values_[ref].number : 0.0;
}

std::string_view Pickle::text(Ref ref) const {
  const PickleValue& value = values_[ref];
  const bool has_text = value.kind == PickleKind::kText || value.kind == PickleKind::kBytes ||
                        value.kind == PickleKind::kGlobal;
  return has_text ? std::string_view(value.text.data, value.text.size) : std::string_view();
}

std::span<const Ref> Pickle::items(Ref ref) const {
  const PickleValue& value = values_[ref];
  if (value.kind == PickleKind::kTuple)
    return std::span(tuple_items_).subspan(value.items, static_cast<std::size_t>(value.integer));
  return items_[value.items];
}

Ref Pickle::entry(Ref dictionary, std::string_view key) const {
  const bool filled = is(dictionary, PickleKind::kCall);
  if (!filled && !is(dictionary, PickleKind::kDict)) return 0;
  const std::span<const Ref> pairs = items(dictionary);
  for (std::size_t i = filled ? kCallHead : 0; i + 1 < pairs.size(); i += 2)
    if (is(pairs[i], PickleKind::kText) && text(pairs[i]) == key) return pairs[i + 1];
  return 0;
}

std::string_view Pickle::callee(Ref call) const {
  return is(call, PickleKind::kCall) ? text(items(call)[0]) : std::string_view();
}

std::span<const Ref> Pickle::arguments(Ref call) const {
  if (!is(call, PickleKind::kCall)) return {};
  const Ref arguments = items(call)[1];
  return is(arguments, PickleKind::kTuple) ? items(arguments) : std::span<const Ref>();
}

Ref Pickle::state(Ref call) const { return is(call, PickleKind::kCall) ? items(call)[2] : 0; }

}  // namespace nanscope::checkpoint
