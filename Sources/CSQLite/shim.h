// The door to SQLite, floor 3.40 (Debian 12). Its one Swift owner is Store.
// What Swift cannot say itself: a macro that casts a number to a function pointer, and a variadic call.
#ifndef SYNCD_CSQLITE_SHIM_H
#define SYNCD_CSQLITE_SHIM_H

#include <sqlite3.h>

/// "Copy these bytes before returning." SQLITE_TRANSIENT casts -1 to a function pointer, which the importer drops.
static inline sqlite3_destructor_type csqlite_transient(void) {
    return SQLITE_TRANSIENT;
}

/// sqlite3_db_config is variadic and invisible to Swift. Every option we use takes one int and reports the new value.
static inline int csqlite_set_option(sqlite3 *database, int option, int value, int *now) {
    return sqlite3_db_config(database, option, value, now);
}

#endif
