#include "report/source_paths.h"

#include <fmt/format.h>

#include <filesystem>

#include "capture/utf8.h"

namespace nanscope::report {
namespace {

bool plain_in_uri(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~' || c == '/';
}

// <stdin>, <ipython-input-3>: no file at all.
bool is_file(std::string_view file) { return !file.empty() && !file.starts_with('<'); }

}  // namespace

std::string repository_path(std::string_view file, const SourceRoot& root) {
  if (!is_file(file) || root.root.empty()) return std::string(file);
  namespace fs = std::filesystem;
  const fs::path absolute = (fs::path(root.here) / fs::path(file)).lexically_normal();
  const fs::path inside = absolute.lexically_relative(fs::path(root.root).lexically_normal());
  const bool outside = inside.empty() || inside == "." || *inside.begin() == "..";
  return outside ? std::string(file) : inside.generic_string();
}

std::string uri_of(std::string_view path) {
  const std::string text = valid_utf8(path);
  std::string uri = text.starts_with('/') ? "file://" : "";
  for (const char c : text) {
    if (plain_in_uri(c))
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace nanscope::report
