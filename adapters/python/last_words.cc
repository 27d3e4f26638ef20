#include "adapters/python/last_words.h"

#include <Python.h>
#include <cxxabi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace nb = nanobind;

namespace nanscope::python {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGHUP};
constexpr unsigned kMostSeconds = 20;  // then the process dies, whatever hangs
constexpr std::size_t kStackBytes = 4u << 20;

sem_t heard;
std::atomic<int> received{0};
nb::object* words = nullptr;

void die_of(int signal_number) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(signal_number, &plain, nullptr);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal_number);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::kill(::getpid(), signal_number);
}

void too_late(int) { die_of(received); }

// In a signal handler: nothing but what POSIX allows there.
void on_signal(int signal_number) {
  int none = 0;
  if (!received.compare_exchange_strong(none, signal_number)) return;  // one is on its way
  struct sigaction late {};
  late.sa_handler = too_late;
  ::sigaction(SIGALRM, &late, nullptr);
  ::alarm(kMostSeconds);
  ::sem_post(&heard);
}

void* wait_and_say(void*) {
  while (::sem_wait(&heard) != 0 && errno == EINTR) {
  }
  const int signal_number = received;
  if (signal_number == 0) return nullptr;  // they are not wanted any more
  PyGILState_STATE gil{};
  try {
    gil = PyGILState_Ensure();
    nb::object status = (*words)(signal_number);
    if (!status.is_none()) ::_exit(nb::cast<int>(status));
  } catch (const abi::__forced_unwind&) {
    // Python has ended meanwhile, and ends every thread that asks for it.
    die_of(signal_number);
    throw;
  } catch (...) {
    PyErr_Clear();
  }
  die_of(signal_number);
  PyGILState_Release(gil);
  return nullptr;
}

bool start_thread() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the program's own threads' affair
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  const int failed = ::pthread_create(&thread, &attributes, wait_and_say, nullptr);
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failed == 0;
}

bool is_handled_by(int signal_number, void (*handler)(int)) {
  struct sigaction now {};
  return ::sigaction(signal_number, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
         now.sa_handler == handler;
}

void exchange(void (*from)(int), void (*to)(int)) {
  for (const int signal_number : kSignals) {
    if (!is_handled_by(signal_number, from)) continue;
    struct sigaction ours {};
    ours.sa_handler = to;
    ours.sa_flags = SA_RESTART;
    ::sigaction(signal_number, &ours, nullptr);
  }
}

}  // namespace

void have_last_words(nb::object say) {
  words = new nb::object(std::move(say));
  ::sem_init(&heard, 0, 0);
  ::pthread_atfork(nullptr, nullptr, no_last_words);
  if (start_thread()) exchange(SIG_DFL, on_signal);
}

void last_words_in_child() {
  if (words == nullptr) return;
  received = 0;
  ::sem_init(&heard, 0, 0);
  if (start_thread()) exchange(SIG_DFL, on_signal);
}

void end_last_words() {
  no_last_words();
  received = 0;
  if (words != nullptr) ::sem_post(&heard);
}

void no_last_words() { exchange(on_signal, SIG_DFL); }

}  // namespace nanscope::python
