// The system calls behind CLinux.h, and the proof that its numbers are the kernel's and glibc's.
#define _GNU_SOURCE

#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(CLINUX_O_PATH == O_PATH, "O_PATH");
_Static_assert(CLINUX_AT_EMPTY_PATH == AT_EMPTY_PATH, "AT_EMPTY_PATH");
_Static_assert(CLINUX_RENAME_NOREPLACE == RENAME_NOREPLACE, "RENAME_NOREPLACE");
_Static_assert(CLINUX_RENAME_EXCHANGE == RENAME_EXCHANGE, "RENAME_EXCHANGE");
_Static_assert(CLINUX_DIRENT_LENGTH_OFFSET == offsetof(struct dirent64, d_reclen), "d_reclen");
_Static_assert(CLINUX_DIRENT_TYPE_OFFSET == offsetof(struct dirent64, d_type), "d_type");
_Static_assert(CLINUX_DIRENT_NAME_OFFSET == offsetof(struct dirent64, d_name), "d_name");

static long value_or_errno(long result) {
    return result == -1 ? -errno : result;
}

int clinux_openat2(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
    struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};
    return (int)value_or_errno(syscall(SYS_openat2, directory, path, &how, sizeof how));
}

int clinux_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags) {
    return (int)value_or_errno(syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}

int clinux_clone(int to, int from) {
    return (int)value_or_errno(ioctl(to, FICLONE, from));
}

int clinux_statx(int directory, const char *path, int flags, unsigned int mask, struct statx *result) {
    return (int)value_or_errno(syscall(SYS_statx, directory, path, flags, mask, result));
}

long clinux_getdents64(int directory, void *buffer, size_t size) {
    return value_or_errno(syscall(SYS_getdents64, directory, buffer, size));
}
