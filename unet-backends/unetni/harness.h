// SPDX-License-Identifier: BSD-3-Clause
//
// harness.h - services that tests start, and networks to start them in.
#ifndef UNETNI_HARNESS_H
#define UNETNI_HARNESS_H

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

// A network of this process's own, with the interfaces unet0 and unet1 joined by a virtual wire,
// with the addresses 10.9.0.1 and 10.9.0.2.  False: not allowed here.
bool enter_wires(int mtu = 9000);

// Why no service can have that wire at an interface here, which is no fault; empty: one can.
std::string why_not(const std::string &interface, const std::string &wire);

// Goes on as the user nobody, without privileges, where this process is root of the machine; in a
// user namespace there is no other user: false.
bool become_nobody();

// An ATM switch on the loopback interface, which is killed at the end of its scope.
class AtmSwitch {
public:
    AtmSwitch();
    ~AtmSwitch();
    AtmSwitch(const AtmSwitch &) = delete;
    AtmSwitch &operator=(const AtmSwitch &) = delete;

    // What a service of it is started with, besides its interface.
    std::vector<std::string> options() const { return {"--wire", "atm", "--carrier", carrier_}; }

    void end();

private:
    pid_t pid_;
    std::string carrier_;
};

// A service, which is killed at the end of its scope.
class Service {
public:
    // With these options; REQUIREs that it serves.  Its socket is in a folder of its own.
    explicit Service(const std::vector<std::string> &options);
    ~Service();
    Service(const Service &) = delete;
    Service &operator=(const Service &) = delete;

    // What a service of this interface, open to all, is started with.
    static std::vector<std::string> at(const std::string &interface);

    std::string path() const { return folder_ / "socket"; }
    pid_t pid() const { return pid_; }

    // Sends the signal; waits for the end and returns the status of waitpid.
    int end(int signal);

private:
    std::filesystem::path folder_;
    pid_t pid_;
};

// Endpoints that are opened from now on are that service's.
void use(const Service &service);

// Runs unetni with these options to its end; what it printed, and its exit code.
struct Outcome {
    int code;
    std::string text;
};
Outcome run_unetni(const std::vector<std::string> &options);
Outcome run_shell(const std::string &script); // the same of a script for sh

#endif
