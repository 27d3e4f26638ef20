#include "capture/older.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace nanscope {
namespace {

template <class Int>
std::optional<Int> whole_number(std::string_view text) {
  Int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Message> message_of(std::string_view way) {
  constexpr std::string_view kTag = " tag ";
  const std::size_t arrow = way.find('>');
  const std::size_t tag = way.find(kTag);
  if (arrow == std::string_view::npos || tag == std::string_view::npos || tag < arrow) return {};
  const std::string_view from = way.substr(0, arrow);
  const auto sender = whole_number<int>(from);
  const auto receiver = whole_number<int>(way.substr(arrow + 1, tag - arrow - 1));
  const auto number = whole_number<std::int64_t>(way.substr(tag + kTag.size()));
  if ((!sender && from != "any") || !receiver || !number) return {};
  return Message{sender, *receiver, *number};
}

}  // namespace

void read_older(const nlohmann::json& json, Collective& collective) {
  const auto way = json.find("way");
  if (json.contains("message") || way == json.end() || !way->is_string()) return;
  collective.message = message_of(way->get_ref<const std::string&>());
}

void read_older(const nlohmann::json& json, TensorFacts& tensor) {
  constexpr std::string_view kSaved = "saved ";
  if (json.contains("saved")) return;
  const bool in_argument = tensor.argument.starts_with(kSaved);
  tensor.saved = in_argument || tensor.remark == "saved by the forward";
  if (in_argument) tensor.argument.erase(0, kSaved.size());
}

void read_older(const nlohmann::json& json, NotWatched& gap) {
  if (!json.contains("kind") && gap.what.starts_with("errors outside "))
    gap.kind = GapKind::kNotChosen;
}

}  // namespace nanscope
