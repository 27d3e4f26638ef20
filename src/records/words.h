// The words of the enums in kinds.h: one spelling for the capture, the JSON,
// the text and the docs.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "records/kinds.h"

namespace nanscope {

template <class Enum>
inline constexpr std::array<std::string_view, 0> kWords{};

template <>
inline constexpr std::array<std::string_view, 3> kWords<Level>{"error", "warning", "note"};
template <>
inline constexpr std::array<std::string_view, 6> kWords<OriginKind>{
    "birth", "declared", "imported", "uninitialised", "unwatched", "received"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<Phase>{"data", "forward", "backward",
                                                               "optimizer"};
template <>
inline constexpr std::array<std::string_view, 10> kWords<HarmKind>{
    "gradient",  "parameter", "buffer", "optimizer_state", "exception", "guard", "loss",
    "collapsed", "kept",      "host"};
template <>
inline constexpr std::array<std::string_view, 7> kWords<Role>{
    "birth", "declared", "imported", "carrier", "cleaned", "harm", "received"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<Ended>{"normally", "exception", "signal",
                                                               "stopped"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<GapKind>{"unwatched", "not_chosen"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<ExperimentKind>{"mended", "made_again"};
template <>
inline constexpr std::array<std::string_view, 6> kWords<Loss>{
    "nothing", "cancellation", "underflow", "guard", "rounding", "masked"};

template <class Enum>
concept Worded = kWords<Enum>
.size() > 0;

template <Worded Enum>
[[nodiscard]] constexpr std::string_view word_of(Enum value) noexcept {
  const auto place = static_cast<std::size_t>(value);
  return place < kWords<Enum>.size() ? kWords<Enum>[place] : std::string_view("?");
}

template <Worded Enum>
[[nodiscard]] constexpr std::optional<Enum> from_word(std::string_view word) noexcept {
  for (std::size_t i = 0; i < kWords<Enum>.size(); ++i)
    if (kWords<Enum>[i] == word) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace nanscope
