#include <fcntl.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "adapters/python/module.h"

namespace nb = nanobind;

namespace nanscope::python {
namespace {

// With the GIL held all the while: there is no other thread. A signal meant for the run (Ctrl-C
// goes to all processes of the terminal) is kept off, and forgotten.
std::int64_t wait_to_be_woken(int wake, std::int64_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // it died before that was asked for
  ::setpgid(0, 0);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::int64_t last_moment = 0;
  ssize_t got = 0;
  do {
    got = ::read(wake, &last_moment, sizeof last_moment);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof last_moment) ::_exit(0);  // nobody is left to wake it
  const timespec at_once{};
  while (::sigtimedwait(&all, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return last_moment;
}

void dies_with_its_parent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

bool write_file(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return written;
}

std::string by_descriptor(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// What is written below this folder goes to `place`, an empty folder. By descriptors: what was
// covered before hides the names.
bool cover(const std::string& folder, int lower, const std::string& place) {
  for (const char* part : {"", "/upper", "/work"}) ::mkdir((place + part).c_str(), 0755);
  const std::string how = "userxattr,lowerdir=" + by_descriptor(lower) + ",upperdir=" + place +
                          "/upper,workdir=" + place + "/work";
  return ::mount("overlay", folder.c_str(), "overlay", 0, how.c_str()) == 0;
}

// Some cannot be covered (there is a mount below that may not be left out). To write there fails.
bool seal(const std::string& folder) {
  if (::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return false;
  mount_attr read_only{};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  return ::mount_setattr(AT_FDCWD, folder.c_str(), AT_RECURSIVE, &read_only, sizeof read_only) == 0;
}

// A world of its own as far as files and the network go: every folder is covered by one that takes
// the writes into memory, or sealed, and there is no network. `scratch` is an empty folder. Returns
// the folders that are as they were; an empty name: all are.
std::vector<std::string> leave_the_world(const std::string& scratch,
                                         const std::vector<std::string>& folders) {
  const std::vector<std::string> nothing{""};
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  constexpr int kOwnWorld = CLONE_NEWNS | CLONE_NEWNET;
  if (::unshare(CLONE_NEWUSER | kOwnWorld) != 0 && ::unshare(kOwnWorld) != 0) return nothing;
  dies_with_its_parent();  // the new user made the system forget it
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", user + " " + user + " 1");
  write_file("/proc/self/gid_map", group + " " + group + " 1");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return nothing;
  if (::mount("tmpfs", scratch.c_str(), "tmpfs", 0, "size=50%") != 0) return nothing;
  const int room = ::open(scratch.c_str(), O_PATH | O_CLOEXEC);
  std::vector<int> lower;
  for (const std::string& folder : folders)
    lower.push_back(::open(folder.c_str(), O_PATH | O_CLOEXEC));
  std::vector<std::string> open;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string place = by_descriptor(room) + "/" + std::to_string(i);
    if (!cover(folders[i], lower[i], place) && !seal(folders[i])) open.push_back(folders[i]);
    ::close(lower[i]);
  }
  ::close(room);
  return open;
}

}  // namespace

void add_snapshot(nb::module_& module) {
  module.def("wait_to_be_woken", &wait_to_be_woken, nb::arg("wake"), nb::arg("parent"));
  module.def("dies_with_its_parent", &dies_with_its_parent);
  module.def("leave_the_world", &leave_the_world, nb::arg("scratch"), nb::arg("folders"));
}

}  // namespace nanscope::python
