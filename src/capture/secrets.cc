#include "capture/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace nanscope {
namespace {

constexpr std::string_view kMask = "***";

// The end of an option's name, in lower case with '-' for '_'. `--max-tokens` and
// `--key-dim` are no secrets, so only whole endings count.
constexpr std::array<std::string_view, 13> kSecretEndings{
    "token",      "password",    "passwd",     "secret",      "api-key",     "apikey", "access-key",
    "secret-key", "private-key", "passphrase", "credentials", "auth-header", "bearer"};

constexpr std::array<std::string_view, 9> kSecretPrefixes{
    "hf_", "sk-", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "AKIA", "eyJhbGci"};

std::string folded(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return c == '_' ? '-' : static_cast<char>(std::tolower(c));
  });
  return lower;
}

bool names_a_secret(std::string_view name) {
  const std::string lower = folded(name);
  return std::any_of(kSecretEndings.begin(), kSecretEndings.end(), [&](std::string_view ending) {
    if (!std::string_view(lower).ends_with(ending)) return false;
    const std::size_t before = lower.size() - ending.size();
    return before == 0 || lower[before - 1] == '-' || lower[before - 1] == '.';
  });
}

bool is_a_secret(std::string_view value) {
  return value.size() >= 16 &&
         std::any_of(kSecretPrefixes.begin(), kSecretPrefixes.end(),
                     [&](std::string_view prefix) { return value.starts_with(prefix); });
}

// scheme://user:secret@host
void mask_url(std::string& argument) {
  const std::size_t scheme = argument.find("://");
  if (scheme == std::string::npos) return;
  const std::size_t begin = scheme + 3;
  const std::size_t host = argument.find_first_of("/?#", begin);
  const std::size_t at = argument.substr(0, host).rfind('@');
  if (at == std::string::npos || at < begin) return;
  const std::size_t colon = argument.find(':', begin);
  if (colon < at) argument.replace(colon + 1, at - colon - 1, kMask);
}

}  // namespace

std::vector<std::string> mask_secrets(std::vector<std::string> argv) {
  bool next_is_secret = false;
  for (std::string& argument : argv) {
    const bool is_option = argument.starts_with('-');
    const std::size_t equals = argument.find('=');
    if (next_is_secret && !is_option) {
      argument = kMask;
    } else if (equals != std::string::npos && names_a_secret(argument.substr(0, equals))) {
      argument.replace(equals + 1, std::string::npos, kMask);
    } else if (is_a_secret(argument)) {
      argument = kMask;
    } else if (equals != std::string::npos &&
               is_a_secret(std::string_view(argument).substr(equals + 1))) {
      argument.replace(equals + 1, std::string::npos, kMask);
    } else {
      mask_url(argument);
    }
    next_is_secret = is_option && equals == std::string::npos && names_a_secret(argument);
  }
  return argv;
}

}  // namespace nanscope
