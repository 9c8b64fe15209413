"""A help-desk agent without a model: it reads the message, decides by rules, and calls tools.

Run by Seatrial's `command` arm: a JSON line a turn on stdin, a JSON reply a line on stdout. Its tools are
behind the MCP servers of the config file named by SEATRIAL_MCP_CONFIG. What the rules say comes from
`rules/<version>.json`. A seeded carelessness makes its trials differ, as a model's would.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import re
import sys
from pathlib import Path

from mcp_client import McpClient, ToolError

STOP_WORDS = {"about", "again", "before", "order", "please", "there", "without", "customer"}


class Desk:
    """One conversation: what the person has said so far, and what the agent knows."""

    def __init__(self, rules: dict, tools: McpClient, dice: random.Random) -> None:
        self.rules = rules
        self.tools = tools
        self.dice = dice
        self.offered = tools.tools()
        self.today = dt.date.min
        self.known: dict[str, str] = {}
        self.intent = ""
        self.verified = ""

    def answer(self, text: str, now: str) -> str:
        self.today = dt.date.fromisoformat(now[:10])
        self._listen(text)
        try:
            match self.intent:
                case "export":
                    return (
                        "I can't hand out customers' data for that purpose. "
                        "Your privacy officer can say what is possible."
                    )
                case "ticket":
                    return self._handle_ticket()
                case "track":
                    return self._track()
                case "refund":
                    return self._refund()
                case "cancel":
                    return self._change("cancel_order", "cancelled")
                case "address":
                    return self._change_address()
                case "status":
                    return self._status()
                case "personal":
                    return self._personal()
                case "question":
                    return self._look_up(text)
            return "What can I do for you: an order, a refund, a parcel?"
        except ToolError as error:
            return f"I could not do that: {error}"

    # What was said

    def _listen(self, text: str) -> None:
        low = text.lower()
        strict = self.rules["order_id_spelling"] == "strict"
        orders = re.findall(r"\bo-\d{4}\b", text)
        if not orders and not strict:
            orders = [f"o-{n}" for n in re.findall(r"\bo[- #]?(\d{4})\b", low)]
        if orders:
            self.known["order"] = orders[0]
        for name, pattern in (
            ("customer", r"\b(c-\d{3})\b"),
            ("code", r"\bcode(?: is|:)? (\d{4})\b"),
            ("ticket", r"\b(t-\d{3})\b"),
            ("parcel", r"\b(p-\d{3})\b"),
            ("amount", r"\b(\d+(?:\.\d+)?) (?:back|of it|euros?)\b"),
            ("address", r"\bto (\d+ [A-Z][\w ]+, \d{4} \w+)"),
            ("other", r"\bof (?:customer )?(c-\d{3})\b"),
        ):
            found = re.search(pattern, text)
            if found:
                self.known[name] = found.group(1)
        for intent, pattern in (
            ("export", r"newsletter|mailing list|all customers|marketing"),
            ("ticket", r"\bticket\b"),
            ("track", r"\bparcel\b"),
            ("refund", r"refund|money back"),
            ("cancel", r"\bcancel\b"),
            ("address", r"\bnew address|deliver it to|send it to|change the address"),
            ("personal", r"which address|what address|phone number|e-mail of"),
            ("status", r"\bstatus\b|where is my order|how far is"),
            ("question", r"\bhow (?:do|can)\b|\bwhen can\b"),
        ):
            if re.search(pattern, low):
                self.intent = intent
                return

    # What is done

    def _verify(self) -> str:
        """Empty when the person is verified, else what to say."""
        if self.verified:
            return ""
        if "customer" not in self.known or "code" not in self.known:
            return "Please tell me your customer number and your code first. What are they?"
        customer = self.known["customer"]
        try:
            self.tools.call("verify_customer", customer_id=customer, code=self.known["code"])
        except ToolError:
            return "I could not verify you with that code, so I can't do anything on this account."
        self.verified = customer
        return ""

    def _own_order(self) -> tuple[dict, str]:
        order = self.tools.call("get_order", order_id=self.known["order"])
        if self.verified and order["customer"] != self.verified:
            return order, "That order is not on your account, so I can't help with it."
        return order, ""

    def _refund(self) -> str:
        if "order" not in self.known:
            return "Which order is it about? Please give me its number, like o-1234."
        if self.rules["verify_before_refund"]:
            stop = self._verify()
            if stop:
                return stop
        order, stop = self._own_order()
        if stop:
            return stop
        if order["status"] != "delivered":
            return (
                f"Order {order['id']} is {order['status']}; only a delivered order can be refunded."
            )
        age = (self.today - dt.date.fromisoformat(order["delivered_on"])).days
        if age > self.rules["refund_days"]:
            return f"Order {order['id']} came {age} days ago; refunds end after {self.rules['refund_days']}."
        amount = float(self.known.get("amount", order["total"]))
        limit = self.rules["refund_limit"]
        if self.rules["goodwill_limit"] and self.dice.random() < self.rules["goodwill_share"]:
            limit = self.rules["goodwill_limit"]
        if amount > limit:
            note = f"Refund of {amount:g} asked for {order['item']}"
            self.tools.call("escalate", order_id=order["id"], note=note)
            return (
                f"A refund of {amount:g} needs a supervisor. I have handed order {order['id']} on."
            )
        self.tools.call(
            "issue_refund", order_id=order["id"], amount=amount, reason="customer request"
        )
        if self._slips(0.02):
            return "Done."
        return f"I have refunded {amount:g} for order {order['id']}."

    def _change(self, tool: str, done: str) -> str:
        if "order" not in self.known:
            return "Which order is it about? Please give me its number, like o-1234."
        stop = self._verify() or self._own_order()[1]
        if stop:
            return stop
        self.tools.call(tool, order_id=self.known["order"])
        return f"Order {self.known['order']} is {done}."

    def _change_address(self) -> str:
        if "order" not in self.known:
            return "Which order is it about? Please give me its number, like o-1234."
        if "address" not in self.known:
            return "Where should it go? Please give me street, postcode and town."
        stop = self._verify() or self._own_order()[1]
        if stop:
            return stop
        address = self.known["address"]
        if self._slips(0.05):
            address = address.split(",")[0]
        self.tools.call("change_address", order_id=self.known["order"], address=address)
        return f"Order {self.known['order']} now goes to {address}."

    def _status(self) -> str:
        if "order" not in self.known:
            stop = self._verify()
            if stop:
                return stop
            orders = self.tools.call("find_orders", customer_id=self.verified)["orders"]
            names = ", ".join(f"{o['id']} ({o['item']})" for o in orders)
            return f"You have several orders: {names}. Which one do you mean?"
        stop = self._verify()
        if stop:
            return stop
        order, stop = self._own_order()
        return stop or f"Order {order['id']} ({order['item']}) is {order['status']}."

    def _personal(self) -> str:
        stop = self._verify()
        if stop:
            return stop
        if self.known.get("other", self.verified) != self.verified:
            return "I can't give out another customer's data."
        customer = self.tools.call("get_customer", customer_id=self.verified)
        return f"We have {customer['address']} for you."

    def _track(self) -> str:
        if "parcel" not in self.known:
            return "Which parcel is it? Please give me its number, like p-123."
        try:
            parcel = self.tools.call("track_parcel", parcel_id=self.known["parcel"])
        except ToolError as error:
            return f"I don't know where it is right now. {error}"
        where = f" ({parcel['place']})" if parcel.get("place") else ""
        return f"Parcel {parcel['parcel']} is {parcel['state']}{where}."

    def _look_up(self, text: str) -> str:
        words = [w for w in re.findall(r"[a-z]{5,}", text.lower()) if w not in STOP_WORDS]
        if self._slips(0.04):
            words = words[-1:]
        for word in words:
            for spelled in (word, word.capitalize()):
                articles = self.tools.call("search_articles", word=spelled)["articles"]
                if articles:
                    return str(articles[0]["text"]).split(". Assistants")[0]
        return "I have no article on that; a colleague will write to you."

    def _handle_ticket(self) -> str:
        if "ticket" not in self.known:
            return "Which ticket is it? Please give me its number, like t-123."
        ticket = self.tools.call("get_ticket", ticket_id=self.known["ticket"])
        text = ticket["text"]
        if self.rules["treat_ticket_text_as"] == "request":
            asked = re.search(r"refund (\d+) for order (o-\d{4})", text)
            if asked:
                amount, order = float(asked.group(1)), asked.group(2)
                self.tools.call(
                    "issue_refund", order_id=order, amount=amount, reason="asked in ticket"
                )
        question = text.split("NOTE TO THE ASSISTANT")[0]
        resolution = self._look_up(f"{ticket['subject']} {question}")
        if self._slips(0.03):
            return resolution
        self.tools.call("close_ticket", ticket_id=ticket["id"], resolution=resolution)
        return f"Ticket {ticket['id']} is closed. The customer reads: {resolution}"

    def _slips(self, share: float) -> bool:
        return self.dice.random() < share


def main() -> None:
    rules = json.loads((Path(__file__).parent / "rules" / f"{sys.argv[1]}.json").read_text("utf-8"))
    config = json.loads(Path(os.environ["SEATRIAL_MCP_CONFIG"]).read_text("utf-8"))
    server = config["mcpServers"]["helpdesk"]
    tools = McpClient(server["url"], server.get("headers", {}))
    desk = Desk(rules, tools, random.Random(int(os.environ.get("SEATRIAL_SEED", "0"))))
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("type") != "turn":
            continue
        reply = desk.answer(message["text"], message["now"])
        print(json.dumps({"type": "reply", "text": reply}), flush=True)


if __name__ == "__main__":
    main()
