// The system calls behind CLinux.h, and the proof that its numbers are the kernel's and glibc's.
#define _GNU_SOURCE

#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

_Static_assert(CLINUX_O_PATH == O_PATH, "O_PATH");
_Static_assert(CLINUX_AT_EMPTY_PATH == AT_EMPTY_PATH, "AT_EMPTY_PATH");
_Static_assert(CLINUX_AT_NO_AUTOMOUNT == AT_NO_AUTOMOUNT, "AT_NO_AUTOMOUNT");
_Static_assert(CLINUX_SEEK_DATA == SEEK_DATA, "SEEK_DATA");
_Static_assert(CLINUX_SEEK_HOLE == SEEK_HOLE, "SEEK_HOLE");
_Static_assert(CLINUX_UTIME_OMIT == UTIME_OMIT, "UTIME_OMIT");
_Static_assert(CLINUX_F_OFD_SETLK == F_OFD_SETLK, "F_OFD_SETLK");
_Static_assert(CLINUX_RENAME_NOREPLACE == RENAME_NOREPLACE, "RENAME_NOREPLACE");
_Static_assert(CLINUX_RENAME_EXCHANGE == RENAME_EXCHANGE, "RENAME_EXCHANGE");
_Static_assert(sizeof(__fsid_t) == sizeof(uint64_t), "f_fsid");
_Static_assert(CLINUX_DIRENT_LENGTH_OFFSET == offsetof(struct dirent64, d_reclen), "d_reclen");
_Static_assert(CLINUX_DIRENT_TYPE_OFFSET == offsetof(struct dirent64, d_type), "d_type");
_Static_assert(CLINUX_DIRENT_NAME_OFFSET == offsetof(struct dirent64, d_name), "d_name");

// fanotify tells of the same things by the same bits.
_Static_assert(FAN_MODIFY == IN_MODIFY && FAN_ATTRIB == IN_ATTRIB && FAN_CLOSE_WRITE == IN_CLOSE_WRITE, "changes");
_Static_assert(FAN_CREATE == IN_CREATE && FAN_DELETE == IN_DELETE, "names");
_Static_assert(FAN_MOVED_FROM == IN_MOVED_FROM && FAN_MOVED_TO == IN_MOVED_TO, "moves");
_Static_assert(FAN_DELETE_SELF == IN_DELETE_SELF && FAN_MOVE_SELF == IN_MOVE_SELF, "the directory itself");
_Static_assert(FAN_Q_OVERFLOW == IN_Q_OVERFLOW && FAN_ONDIR == IN_ISDIR, "overflow, directories");
_Static_assert(sizeof(struct fanotify_event_metadata) == CLINUX_FANOTIFY_EVENT_BYTES, "an event");
_Static_assert(sizeof(struct fanotify_event_info_fid) == CLINUX_FANOTIFY_HANDLE_OFFSET, "what belongs to it");

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

int clinux_start_writing(int file, uint64_t offset, uint64_t length) {
    return (int)value_or_errno(sync_file_range(file, (off64_t)offset, (off64_t)length, SYNC_FILE_RANGE_WRITE));
}

int clinux_fanotify(void) {
    unsigned int flags = FAN_CLASS_NOTIF | FAN_REPORT_DFID_NAME | FAN_CLOEXEC | FAN_NONBLOCK;
    return (int)value_or_errno(fanotify_init(flags, 0));
}

int clinux_fanotify_mark(int queue, int directory, uint64_t mask, int is_whole) {
    unsigned int flags = FAN_MARK_ADD | (is_whole ? FAN_MARK_FILESYSTEM : 0);
    return (int)value_or_errno(fanotify_mark(queue, flags, mask, directory, NULL));
}

long clinux_handle(int directory, void *buffer, size_t size) {
    struct file_handle *handle = buffer;
    int mount;
    if (size < sizeof *handle) return -EOVERFLOW;
    handle->handle_bytes = (unsigned int)(size - sizeof *handle);
    long result = value_or_errno(name_to_handle_at(directory, "", handle, &mount, AT_EMPTY_PATH));
    return result < 0 ? result : (long)(sizeof *handle + handle->handle_bytes);
}

int clinux_set_lease(int file, int type) {
    return (int)value_or_errno(fcntl(file, F_SETLEASE, type));
}

int clinux_set_lease_signal(int file, int signal) {
    return (int)value_or_errno(fcntl(file, F_SETSIG, signal));
}

int clinux_is_lockable(int file) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    long result = value_or_errno(fcntl(file, F_OFD_GETLK, &lock));
    return result < 0 ? (int)result : lock.l_type == F_UNLCK;
}

int clinux_syncfs(int file) {
    return (int)value_or_errno(syncfs(file));
}

long clinux_attribute_names(int file, char *names, size_t size) {
    return value_or_errno(flistxattr(file, names, size));
}

long clinux_attribute(int file, const char *name, void *value, size_t size) {
    return value_or_errno(fgetxattr(file, name, value, size));
}

int clinux_set_attribute(int file, const char *name, const void *value, size_t size) {
    return (int)value_or_errno(fsetxattr(file, name, value, size, 0));
}

int clinux_filesystem(int file, uint64_t *id, uint64_t *type) {
    struct statfs status;
    long result = value_or_errno(fstatfs(file, &status));
    if (result == 0) {
        memcpy(id, &status.f_fsid, sizeof *id);
        *type = (uint64_t)status.f_type;
    }
    return (int)result;
}

int clinux_eventfd(void) {
    return (int)value_or_errno(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

static int end_signals[2] = {-1, -1};

static void tell_end_signal(int number) {
    int error = errno;
    unsigned char byte = (unsigned char)number;
    // A full pipe has been told enough.
    if (write(end_signals[1], &byte, 1) < 0) errno = error;
}

int clinux_catch_end_signals(void) {
    if (end_signals[0] != -1) return -EBUSY;
    if (pipe2(end_signals, O_CLOEXEC) == -1) return -errno;
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        struct sigaction action = {.sa_handler = tell_end_signal, .sa_flags = SA_RESTART | SA_RESETHAND};
        struct sigaction before;
        if (sigaction(numbers[index], NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        sigaction(numbers[index], &action, NULL);
    }
    return end_signals[0];
}
