#include <arpa/inet.h>
#include <linux/tcp.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "adapters/python/module.h"

namespace nb = nanobind;

namespace nanscope::python {
namespace {

std::optional<std::string> peer_of(int descriptor) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0)
    return std::nullopt;
  const bool six = peer.ss_family == AF_INET6;
  const auto* four = reinterpret_cast<const sockaddr_in*>(&peer);
  const auto* long_form = reinterpret_cast<const sockaddr_in6*>(&peer);
  const void* host = six ? static_cast<const void*>(&long_form->sin6_addr) : &four->sin_addr;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(peer.ss_family, host, text.data(), text.size()) == nullptr) return std::nullopt;
  const std::uint16_t port = ntohs(six ? long_form->sin6_port : four->sin_port);
  return (six ? "[" + std::string(text.data()) + "]" : std::string(text.data())) + ":" +
         std::to_string(port);
}

// The peer of a TCP connection and the bytes sent and received so far; none: it is none, or the
// system does not count.
std::optional<std::pair<std::string, std::uint64_t>> exchanged_over(int descriptor) {
  tcp_info counts{};
  socklen_t size = sizeof counts;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &counts, &size) != 0) return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_bytes_retrans)) return std::nullopt;
  auto peer = peer_of(descriptor);
  if (!peer) return std::nullopt;
  return std::pair(*std::move(peer), counts.tcpi_bytes_sent + counts.tcpi_bytes_received);
}

}  // namespace

void add_connections(nb::module_& module) {
  module.def("exchanged_over", &exchanged_over, nb::arg("descriptor"));
}

}  // namespace nanscope::python
