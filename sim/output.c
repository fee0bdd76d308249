/* Where results go, with every write checked.
 *
 * In: text, through a stdio stream. Out: the bytes in standard output or in a file, or the reason
 * why they are not all there: a full disk and a closed pipe are told, never swallowed.
 *
 * The stream writes through a function of ours, which keeps the errno of the first failure: stdio
 * would report a failed flush in the middle of a result as no more than "some error, some time".
 */
#include "sim/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/words.h"

static ssize_t write_all(void *cookie, const char *bytes, size_t size)
{
    struct output *o = cookie;
    size_t done = 0;
    while (done < size && o->trouble == 0) {
        ssize_t n = write(o->descriptor, bytes + done, size - done);
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            o->trouble = n == 0 ? ENOSPC : errno;
        }
    }
    return (ssize_t)size; /* the trouble is kept; stdio has no part in it */
}

static void say(const struct output *o, const char *what, int error)
{
    char quoted[1024];
    const char *name = "standard output";
    if (o->path != NULL) {
        words_quote(o->path, strlen(o->path), quoted, sizeof(quoted));
        name = quoted;
    }
    fprintf(stderr, "onlyonce: cannot %s %s: %s\n", what, name, strerror(error));
}

static char *beside(const char *path)
{
    size_t size = strlen(path) + 32;
    char *name = sim_alloc(size);
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path + 1) : 0;
    snprintf(name, size, "%.*s.onlyonce-%ld.tmp", folder, path, (long)getpid());
    return name;
}

/* A symbolic link stays one: what it points to is replaced. */
static char *follow(const char *path)
{
    char *end = realpath(path, NULL);
    return end != NULL ? end : sim_strdup(path);
}

static int open_file(struct output *o, enum output_mode mode)
{
    struct stat st;
    bool exists = stat(o->path, &st) == 0;
    if (exists && mode == OUTPUT_NEW) {
        errno = EEXIST;
        return -1;
    }
    if (exists && !S_ISREG(st.st_mode)) {
        return open(o->path, O_WRONLY | O_CLOEXEC);
    }
    if (exists && access(o->path, W_OK) != 0) {
        return -1;
    }
    o->temporary = beside(o->path);
    int fd = open(o->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0 && exists) {
        (void)fchmod(fd, st.st_mode & 0777); /* at worst the file gets the usual mode */
    }
    return fd;
}

enum sim_error output_open(struct output *o, const char *path, enum output_mode mode)
{
    *o = (struct output){.descriptor = STDOUT_FILENO, .keep_old = mode == OUTPUT_NEW};
    if (path != NULL) {
        o->path = follow(path);
        o->descriptor = open_file(o, mode);
        if (o->descriptor < 0) {
            bool refused = errno == EEXIST;
            say(o, "write", errno);
            free(o->path);
            free(o->temporary);
            return refused ? SIM_ERR_USAGE : SIM_ERR_IO;
        }
    }
    cookie_io_functions_t functions = {.write = write_all};
    o->stream = fopencookie(o, "w", functions);
    must(o->stream != NULL);
    return SIM_OK;
}

bool output_flush(struct output *o)
{
    fflush(o->stream);
    return o->trouble == 0;
}

/* The finished file takes its name. Returns errno. */
static int take_name(const struct output *o)
{
    int failed = o->keep_old ? link(o->temporary, o->path) : rename(o->temporary, o->path);
    return failed ? errno : 0;
}

enum sim_error output_close(struct output *o, bool keep)
{
    fclose(o->stream);
    /* NFS and quotas report here what write() accepted. */
    if (close(o->descriptor) != 0 && o->trouble == 0) {
        o->trouble = errno;
    }
    if (keep && o->trouble == 0 && o->temporary != NULL) {
        o->trouble = take_name(o);
    }
    if (o->temporary != NULL) {
        unlink(o->temporary);
    }
    int trouble = o->trouble;
    if (trouble != 0) {
        say(o, "write", trouble);
    }
    free(o->path);
    free(o->temporary);
    *o = (struct output){.trouble = trouble};
    return trouble ? SIM_ERR_IO : SIM_OK;
}

bool output_wants_colour(const struct output *o)
{
    const char *no = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return o->path == NULL && isatty(o->descriptor) && (no == NULL || no[0] == '\0') &&
           terminal != NULL && strcmp(terminal, "dumb") != 0;
}
