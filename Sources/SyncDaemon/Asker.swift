import ControlProtocol

/// Who asked, and how to answer.
struct Asker {
    let call: ControlCall
    let client: ControlClient
    /// Of this request with the client: as long as there is an asker of it, somebody means to answer.
    let stay: ControlClient.Stay

    func finish(_ document: some ControlDocument) { client.reply(.result(call.id, document.json)) }
    func item(_ document: some ControlDocument) {
        client.reply(.item(call.id, method: call.request.method, document.json))
    }
    func refuse(_ error: ControlError) {
        client.reply(.refusal(ControlRefusal(id: call.id, error: error)))
    }
}
