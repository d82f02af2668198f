# A receiver of the events of callwatch, for Python 3.9 or later, with nothing else (docs/events.md).
import base64, hmac, json, os, sqlite3, time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["CRM_WEBHOOK_SECRET"].removeprefix("whsec_"))
assert len(KEY) >= 24, "CRM_WEBHOOK_SECRET is no secret"  # an empty one would accept what anybody signs
with closing(sqlite3.connect("crm.db")) as db:
    db.execute("CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP)")
    db.execute("CREATE TABLE IF NOT EXISTS missed (session_id TEXT, at TEXT)")

def is_signed(headers, body):
    id, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent.isdecimal() or abs(time.time() - int(sent)) > 300:
        return False
    signature = hmac.digest(KEY, f"{id}.{sent}.".encode() + body, "sha256")
    expected = b"v1," + base64.b64encode(signature)
    return any(hmac.compare_digest(expected, one.encode()) for one in headers.get("webhook-signature", "").split())

def process_once(event):
    with closing(sqlite3.connect("crm.db", timeout=10)) as db, db:  # one transaction
        is_new = db.execute("INSERT OR IGNORE INTO seen (id) VALUES (?)", [event["id"]]).rowcount == 1
        if is_new and event["type"] == "callwatch.call.unanswered":
            db.execute("INSERT INTO missed VALUES (?, ?)", [event["data"]["session_id"], event["time"]])

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        is_ours = is_signed(self.headers, body)
        if is_ours:
            process_once(json.loads(body))  # if this fails there is no answer, and it is sent again
        self.send_response(204 if is_ours else 401)
        self.end_headers()

ThreadingHTTPServer.request_queue_size = 16  # as many requests come at once
ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8000))), Receiver).serve_forever()
