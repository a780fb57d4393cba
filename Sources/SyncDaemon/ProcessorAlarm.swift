import Glibc

/// Ends the process when one of its threads does not come back: after so much processor time of that thread, so that neither a slow disk
/// nor a busy machine counts. Nobody asks for the time meanwhile, the kernel does it.
@safe final class ProcessorAlarm {
    /// The kernel's number of the timer in the shape of a pointer, which nobody follows: the first one is nil. Ours until `deinit`.
    private let timer: timer_t?

    /// For the thread that calls. Nil if the kernel has no timer left for this user.
    init?() {
        var event = unsafe sigevent()
        unsafe event.sigev_notify = Int32(SIGEV_SIGNAL)
        unsafe event.sigev_signo = SIGABRT
        var timer: timer_t?
        guard unsafe timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0 else { return nil }
        unsafe self.timer = timer
    }

    deinit { unsafe timer_delete(timer) }

    func start(seconds: Int) { set(seconds) }

    func stop() { set(0) }

    private func set(_ seconds: Int) {
        var time = itimerspec()
        time.it_value.tv_sec = seconds
        // Once more each second after: who catches the first, to print where it was, may return from that.
        time.it_interval.tv_sec = min(seconds, 1)
        // (It fails for times that are none only.)
        _ = unsafe timer_settime(timer, 0, &time, nil)
    }
}
