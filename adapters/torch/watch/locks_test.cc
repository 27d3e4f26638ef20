#include "adapters/torch/watch/locks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <thread>
#include <utility>

#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {
namespace {

// The status of a child that is forked here, and says whether it can take this lock.
int forked(Lock& lock) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(lock.try_lock() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

// While one thread forks, another does, too: one that runs no Python, or is inside our own work.
TEST(Locks, OnlyTheThreadThatBeganAForkTakesThem) {
  Threads::get();  // has one
  Lock& lock = *lock_of(LockRank::kThreads);
  std::mutex judge;
  begin_fork(std::unique_lock(judge));
  EXPECT_TRUE(is_forking());
  lock.lock();
  int of_another = -1;
  std::thread([&] {
    EXPECT_FALSE(is_forking());
    of_another = forked(lock);
    end_fork();
  }).join();
  EXPECT_EQ(of_another, 1) << "it waits for no lock, and gives none back";
  EXPECT_TRUE(is_forking());
  lock.unlock();
  EXPECT_EQ(forked(lock), 0);
  end_fork();
  EXPECT_FALSE(is_forking());
  EXPECT_TRUE(judge.try_lock());
  judge.unlock();
}

}  // namespace
}  // namespace nanscope::torch_adapter
