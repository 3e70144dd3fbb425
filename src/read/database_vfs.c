/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database_vfs.c - SQLite over descriptors that are open already.
 *
 * SQLite opens files by name, follows links in it, and looks for journals beside it. Here the name is a pair of numbers:
 * the descriptor of the database and that of its write-ahead log. Reading is all that works. Nobody locks: who writes
 * the file meanwhile makes a damaged read, as with any trace that is not finished.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "read/database.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAL "-wal"

/* Tables are read page by page in their order: so much is read at once then. */
#define AHEAD_BYTES ((size_t)64 << 10)

struct descriptor_file {
	sqlite3_file base; /* first: what SQLite sees */
	int fd;
	bool reads_ahead;   /* nobody writes it meanwhile */
	sqlite3_int64 next; /* behind the page that was read last */
	sqlite3_int64 ahead_at;
	size_t n_ahead;
	char ahead[AHEAD_BYTES];
};

/* ---- a file ---- */

static int fd_of(sqlite3_file *file)
{
	return ((struct descriptor_file *)file)->fd;
}

static int close_file(sqlite3_file *file)
{
	close(fd_of(file));
	return SQLITE_OK;
}

/* As much as there is, up to n; -1 when it cannot be read. */
static ssize_t read_some(int fd, char *buf, size_t n, sqlite3_int64 offset)
{
	size_t done = 0;
	while (done < n) {
		ssize_t got = pread(fd, buf + done, n - done, (off_t)offset + (off_t)done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* Whether all of it was read before; the next pages in their order are read together. */
static bool take_ahead(struct descriptor_file *own, char *buf, size_t n, sqlite3_int64 offset)
{
	bool follows = own->reads_ahead && offset == own->next;
	own->next = offset + (sqlite3_int64)n;
	for (int i = 0; i < 2; i++) {
		sqlite3_int64 at = offset - own->ahead_at;
		if (at >= 0 && own->n_ahead >= n && (size_t)at <= own->n_ahead - n) {
			memcpy(buf, own->ahead + at, n);
			return true;
		}
		if (!follows || i)
			break;
		ssize_t got = read_some(own->fd, own->ahead, sizeof own->ahead, offset);
		own->ahead_at = offset;
		own->n_ahead = got > 0 ? (size_t)got : 0;
	}
	return false;
}

static int read_at(sqlite3_file *file, void *buf, int n, sqlite3_int64 offset)
{
	if (take_ahead((struct descriptor_file *)file, buf, (size_t)n, offset))
		return SQLITE_OK;
	ssize_t got = read_some(fd_of(file), buf, (size_t)n, offset);
	if (got < 0)
		return SQLITE_IOERR_READ;
	size_t done = (size_t)got;
	/* behind the end are zeros: SQLite asks for that */
	memset((char *)buf + done, 0, (size_t)n - done);
	return done < (size_t)n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int write_at(sqlite3_file *file, const void *buf, int n, sqlite3_int64 offset)
{
	(void)file, (void)buf, (void)n, (void)offset;
	return SQLITE_READONLY;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file, (void)size;
	return SQLITE_READONLY;
}

static int sync_file(sqlite3_file *file, int flags)
{
	(void)file, (void)flags;
	return SQLITE_OK;
}

static int size_of(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	struct stat st;
	if (fstat(fd_of(file), &st) < 0)
		return SQLITE_IOERR_FSTAT;
	*ret_size = st.st_size;
	return SQLITE_OK;
}

static int lock_file(sqlite3_file *file, int level)
{
	(void)file, (void)level;
	return SQLITE_OK;
}

static int is_reserved(sqlite3_file *file, int *ret_is)
{
	(void)file;
	*ret_is = 0;
	return SQLITE_OK;
}

static int control(sqlite3_file *file, int op, void *argument)
{
	(void)file, (void)op, (void)argument;
	return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int characteristics(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods methods = { .iVersion = 1,
	.xClose = close_file,
	.xRead = read_at,
	.xWrite = write_at,
	.xTruncate = truncate_file,
	.xSync = sync_file,
	.xFileSize = size_of,
	.xLock = lock_file,
	.xUnlock = lock_file,
	.xCheckReservedLock = is_reserved,
	.xFileControl = control,
	.xSectorSize = sector_size,
	.xDeviceCharacteristics = characteristics };

/* ---- the file system ---- */

void ht_descriptor_name(int fd, int wal_fd, char name[HT_DESCRIPTOR_NAME_BYTES])
{
	/* without a log nothing else belongs to the file */
	(void)snprintf(name, HT_DESCRIPTOR_NAME_BYTES, "file:/%d.%d%s", fd, wal_fd,
	        wal_fd < 0 ? "?immutable=1" : "");
}

/* The numbers of a name, which may have something behind it. */
static bool parse(const char *name, int *ret_fd, int *ret_wal_fd)
{
	return name && sscanf(name, "/%d.%d", ret_fd, ret_wal_fd) == 2;
}

static bool is_wal(const char *name)
{
	size_t n = strlen(name);
	return n > strlen(WAL) && !strcmp(name + n - strlen(WAL), WAL);
}

static int open_file(
        sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *ret_flags)
{
	struct descriptor_file *own = (struct descriptor_file *)file;
	int fd, wal_fd;
	(void)vfs;
	own->base.pMethods = NULL;
	if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) || !parse(name, &fd, &wal_fd))
		return SQLITE_CANTOPEN;
	/* each is closed by its file, so a file has one of its own */
	own->fd = dup(flags & SQLITE_OPEN_MAIN_DB ? fd : wal_fd);
	if (own->fd < 0)
		return SQLITE_CANTOPEN;
	/* with a log somebody may be writing */
	own->reads_ahead = wal_fd < 0;
	own->next = own->ahead_at = 0;
	own->n_ahead = 0;
	own->base.pMethods = &methods;
	if (ret_flags)
		*ret_flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) |
		             SQLITE_OPEN_READONLY;
	return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs, (void)name, (void)sync;
	return SQLITE_IOERR_DELETE;
}

static int has_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_has)
{
	int fd, wal_fd = -1;
	(void)vfs;
	*ret_has = flags != SQLITE_ACCESS_READWRITE && parse(name, &fd, &wal_fd) && is_wal(name) &&
	           wal_fd >= 0;
	return SQLITE_OK;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int n, char *ret_name)
{
	(void)vfs;
	return snprintf(ret_name, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static sqlite3_vfs *system_vfs(void)
{
	return sqlite3_vfs_find(NULL);
}

static int random_bytes(sqlite3_vfs *vfs, int n, char *ret_bytes)
{
	(void)vfs;
	return system_vfs()->xRandomness(system_vfs(), n, ret_bytes);
}

static int sleep_us(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return system_vfs()->xSleep(system_vfs(), us);
}

static int julian_day(sqlite3_vfs *vfs, double *ret_now)
{
	(void)vfs;
	return system_vfs()->xCurrentTime(system_vfs(), ret_now);
}

static int last_error(sqlite3_vfs *vfs, int n, char *ret_text)
{
	(void)vfs, (void)n, (void)ret_text;
	return errno;
}

static sqlite3_vfs vfs = { .iVersion = 1,
	.szOsFile = sizeof(struct descriptor_file),
	.mxPathname = HT_DESCRIPTOR_NAME_BYTES + sizeof WAL,
	.zName = "holotrace-descriptors",
	.xOpen = open_file,
	.xDelete = delete_file,
	.xAccess = has_access,
	.xFullPathname = full_name,
	.xRandomness = random_bytes,
	.xSleep = sleep_us,
	.xCurrentTime = julian_day,
	.xGetLastError = last_error };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_registered;

static void register_vfs(void)
{
	is_registered = sqlite3_initialize() == SQLITE_OK && system_vfs() &&
	                sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

const char *ht_descriptor_vfs(void)
{
	pthread_once(&once, register_vfs);
	return is_registered ? vfs.zName : NULL;
}

#endif
