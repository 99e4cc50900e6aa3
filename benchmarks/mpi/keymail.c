/* SPDX-License-Identifier: BSD-3-Clause */
#include "keymail.h"

#include "common.h"
#include "team.h"
#include "wait.h"
#include <mpi.h>
#include <stdlib.h>

#define SLOTS 64 /* messages on their way out, and receives that are posted */
#define NONE UINT32_MAX

struct letter {
    uint32_t place[2]; /* NONE: there is no such key */
    key k[2];
};

struct keymail {
    struct letter out[SLOTS], in[SLOTS];
    MPI_Request sending[SLOTS], receiving[SLOTS];
    int next_out, next_in;
    key *room;
    long expected;          /* keys that have not come yet */
    struct letter *waiting; /* for a second key, by processor */
};

/* ---- coming --------------------------------------------------------------------------- */

static void post(struct keymail *mail, int slot)
{
    MPI_Irecv(&mail->in[slot], sizeof(struct letter), MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
              &mail->receiving[slot]);
}

static void deliver(struct keymail *mail, const struct letter *letter)
{
    for (int i = 0; i < 2; i++)
        if (letter->place[i] != NONE) {
            mail->room[letter->place[i]] = letter->k[i];
            mail->expected--;
        }
}

/* Receives complete in the order in which they were posted. */
static void receive(struct keymail *mail)
{
    int slot = mail->next_in, done;

    MPI_Test(&mail->receiving[slot], &done, MPI_STATUS_IGNORE);
    if (!done)
        return;
    deliver(mail, &mail->in[slot]);
    post(mail, slot);
    mail->next_in = (slot + 1) % SLOTS;
}

/* ---- going ------------------------------------------------------------------------------ */

static int is_sent(struct keymail *mail, int slot)
{
    int done;

    MPI_Test(&mail->sending[slot], &done, MPI_STATUS_IGNORE);
    return done;
}

static void send(struct keymail *mail, int processor, const struct letter *letter)
{
    int slot = mail->next_out;

    if (processor == team_rank()) {
        deliver(mail, letter);
        return;
    }
    while (!is_sent(mail, slot))
        receive(mail);
    mail->out[slot] = *letter;
    MPI_Isend(&mail->out[slot], sizeof *letter, MPI_BYTE, processor, 0, MPI_COMM_WORLD,
              &mail->sending[slot]);
    mail->next_out = (slot + 1) % SLOTS;
    receive(mail);
}

void keymail_place(struct keymail *mail, int processor, long place, key k)
{
    struct letter *letter = &mail->waiting[processor];
    int second = letter->place[0] != NONE;

    letter->place[second] = (uint32_t)place;
    letter->k[second] = k;
    if (!second)
        return;
    send(mail, processor, letter);
    letter->place[0] = letter->place[1] = NONE;
}

/* ---- beginning and end -------------------------------------------------------------------- */

struct keymail *keymail_make(void)
{
    struct keymail *mail = allocate(sizeof *mail);

    mail->next_out = mail->next_in = 0;
    mail->waiting = allocate(team_size() * sizeof *mail->waiting);
    for (int p = 0; p < team_size(); p++)
        mail->waiting[p].place[0] = mail->waiting[p].place[1] = NONE;
    for (int slot = 0; slot < SLOTS; slot++) {
        mail->sending[slot] = MPI_REQUEST_NULL;
        post(mail, slot);
    }
    return mail;
}

void keymail_begin(struct keymail *mail, key *room, long n)
{
    mail->room = room;
    mail->expected = n;
}

void keymail_end(struct keymail *mail)
{
    for (int p = 0; p < team_size(); p++)
        if (mail->waiting[p].place[0] != NONE) {
            send(mail, p, &mail->waiting[p]);
            mail->waiting[p].place[0] = NONE;
        }
    while (mail->expected > 0)
        receive(mail);
    wait_all(SLOTS, mail->sending);
    team_barrier();
}

void keymail_free(struct keymail *mail)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        MPI_Cancel(&mail->receiving[slot]);
        MPI_Wait(&mail->receiving[slot], MPI_STATUS_IGNORE);
    }
    free(mail->waiting);
    free(mail);
}
