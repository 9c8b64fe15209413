"""The MCP endpoint an agent is given: on the wire, without an SDK; it records, mocks, and checks rights."""

from seatrial.gateway.channel import Channel, ChannelClosed
from seatrial.gateway.record import Fault
from seatrial.gateway.servers import Rights, ToolServer
from seatrial.gateway.serving import Gateway

__all__ = ["Channel", "ChannelClosed", "Fault", "Gateway", "Rights", "ToolServer"]
