// The door to Linux calls that Swift's Glibc module does not show. Its one Swift owner is Disk.
//
// Swift cannot call variadic functions such as syscall() and ioctl(), glibc 2.36 has no wrapper for openat2 at all, and
// the wrappers it has for the rest (renameat2, statx, getdents64) hide behind _GNU_SOURCE, which Swift does not set.
// Every function here is one system call. It returns the call's result, or -errno: the error travels in the value, so
// no Swift code that runs in between (a release, an allocation) can overwrite it.
//
// The bodies are in CLinux.c and not inline: the kernel's <linux/fs.h> redefines what <sys/mount.h> of Swift's Glibc
// module defines, and the two may never meet in one translation unit. inotify needs nothing here: its functions and all
// plain IN_* constants are visible through Glibc.
#ifndef SYNCD_CLINUX_H
#define SYNCD_CLINUX_H

// glibc's headers come first: <linux/stat.h> leaves S_IFMT and its kin out only when it can see that glibc is there.
#include <stddef.h>
#include <stdint.h>

#include <linux/magic.h>    // types of file systems
#include <linux/openat2.h>  // RESOLVE_*
#include <linux/stat.h>     // struct statx and STATX_*

// Values that <fcntl.h>, <dirent.h> and <linux/fs.h> hide from Swift; CLinux.c checks each against its header. Macros,
// not an enum: Swift gives a macro the type its number has in C, which is the type the calls below take.
#define CLINUX_O_PATH 010000000          // a handle to a name, without opening what it names
#define CLINUX_AT_EMPTY_PATH 0x1000      // statx of the descriptor itself
#define CLINUX_AT_NO_AUTOMOUNT 0x800     // looking at a name mounts nothing
#define CLINUX_SEEK_DATA 3               // lseek to the next byte that is not in a hole
#define CLINUX_SEEK_HOLE 4               // lseek to the next hole, or to the end
#define CLINUX_UTIME_OMIT 0x3ffffffe     // utimensat leaves this time as it is (1 << 30 less 2)
#define CLINUX_F_OFD_SETLK 37            // fcntl: a record lock that belongs to the open file, without waiting
#define CLINUX_ZFS_MAGIC 0x2fc12fc1ull   // the type of an OpenZFS file system; no header of Debian's has it
#define CLINUX_RENAME_NOREPLACE 1u       // a new name: fails with EEXIST instead of replacing
#define CLINUX_RENAME_EXCHANGE 2u        // swaps two names, so that what was displaced can be inspected
#define CLINUX_DIRENT_LENGTH_OFFSET 16   // in a getdents64 record: its whole length, 16 bits
#define CLINUX_DIRENT_TYPE_OFFSET 18     // in a getdents64 record: DT_*, 8 bits
#define CLINUX_DIRENT_NAME_OFFSET 19     // in a getdents64 record: the name, ended by a zero byte
#define CLINUX_FANOTIFY_EVENT_BYTES 24   // of a fanotify event, before what belongs to it
#define CLINUX_FANOTIFY_HANDLE_OFFSET 12 // in what belongs to it: a directory's handle, and after that a name

/// openat2(2), Linux 5.6: the only open that can be told never to leave `directory` (RESOLVE_BENEATH and friends).
int clinux_openat2(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);

/// renameat2(2) with CLINUX_RENAME_EXCHANGE or CLINUX_RENAME_NOREPLACE.
int clinux_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags);

/// ioctl FICLONE: `to` shares all the blocks of `from`. -EOPNOTSUPP or -EXDEV where the filesystem cannot.
int clinux_clone(int to, int from);

/// statx(2): the only stat that tells the birth time, which identifies a file across moves.
int clinux_statx(int directory, const char *path, int flags, unsigned int mask, struct statx *result);

/// sync_file_range(2) that starts writing and waits for nothing: it neither reports nor forgets an error.
int clinux_start_writing(int file, uint64_t offset, uint64_t length);

/// fcntl F_SETLEASE with F_RDLCK or F_UNLCK: a lease for reading is refused with -EAGAIN while anybody has the file open for
/// writing, or mapped.
int clinux_set_lease(int file, int type);

/// fcntl F_SETSIG: what the holder of a lease is sent when somebody else wants the file. SIGIO, if nothing is said, ends
/// a program that does not expect it.
int clinux_set_lease_signal(int file, int signal);

/// From now on SIGTERM, SIGINT and SIGHUP are each written as one byte to the pipe whose end is returned, unless they were ignored; the
/// second of a kind ends the process as if nobody had asked. EBUSY if this was called before.
int clinux_catch_end_signals(void);

/// fcntl F_OFD_GETLK: 1 if nobody else has a record lock on any part of the file, for reading or writing, 0 if somebody has.
int clinux_is_lockable(int file);

/// syncfs(2): everything on the file system of `file`. Reports write-back errors since Linux 5.8.
int clinux_syncfs(int file);

/// flistxattr(2): the names of the extended attributes, each ended by a zero byte.
long clinux_attribute_names(int file, char *names, size_t size);

/// fgetxattr(2).
long clinux_attribute(int file, const char *name, void *value, size_t size);

/// fsetxattr(2): makes it or replaces it.
int clinux_set_attribute(int file, const char *name, const void *value, size_t size);

/// fstatfs(2): the file system's own id (0 where it has none) and its type.
int clinux_filesystem(int file, uint64_t *id, uint64_t *type);

/// eventfd(2), closed on exec and never blocking: a counter that poll can wait for.
int clinux_eventfd(void);

/// fanotify_init(2) for events that carry the handle of a directory and a name in it; needs CAP_SYS_ADMIN for what follows.
int clinux_fanotify(void);

/// fanotify_mark(2): adds `mask`, for the directory alone or for everything on its file system.
int clinux_fanotify_mark(int queue, int directory, uint64_t mask, int is_whole);

/// name_to_handle_at(2): what the kernel calls the directory for as long as it exists, as a `struct file_handle`. Its length.
long clinux_handle(int directory, void *buffer, size_t size);

/// getdents64(2): raw records into `buffer`; bytes filled, 0 at the end. readdir allocates, and hides read errors.
long clinux_getdents64(int directory, void *buffer, size_t size);

#endif
