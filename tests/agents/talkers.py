"""Clerks of the bike rental for conversations: they ask, remember, and are told by whom they are spoken to."""

import re


async def asks_which(text, seat):
    """Asks which bike and for whom, then rents it."""
    known = seat.state
    known["bike"] = next(iter(re.findall(r"\bb-\d\b", text)), known.get("bike"))
    known["renter"] = next(iter(re.findall(r"\bI am ([\w-]+)", text)), known.get("renter"))
    if known["bike"] is None:
        return "Which bike would you like?"
    if known["renter"] is None:
        return "And what is your name?"
    answer = await seat.call("rent", bike=known["bike"], renter=known["renter"])
    if answer.is_error:
        return f"I am sorry: {answer.text}. Another one?"
    return f"Bike {known['bike']} is rented out to you."


async def refuses(text, seat):
    return "I cannot do that."


async def looks_then_rents(text, seat):
    """Looks a bike up in the first turn and rents it in the second."""
    bike = re.findall(r"\bb-\d\b", text)[0]
    if not seat.history:
        await seat.call("get_bike", bike=bike)
        return f"Yes, {bike} is free. Shall I rent it out to you?"
    await seat.call("rent", bike=bike, renter=re.findall(r"\bI am ([\w-]+)", text)[0])
    return f"Done: {bike} is yours."


async def rents_at_once(text, seat):
    """Rents in the first turn already, and says so again in the second."""
    if not seat.history:
        answer = await seat.call("rent", bike="b-1", renter="somebody")
        return f"b-1: {answer.text}."
    return "You have b-1 already."


async def claims_first(text, seat):
    """Says that it has rented the bike out, and does it a turn later."""
    if not seat.history:
        return "I have reserved b-1 for you."
    await seat.call("rent", bike="b-1", renter="Ada")
    return "It is yours."


async def echoes(text, seat):
    return f"You said: {text}"


async def is_slow_in_turn_two(text, seat):
    if seat.history:
        import asyncio

        await asyncio.sleep(600)
    return "Hello."
