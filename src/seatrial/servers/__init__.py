"""The real MCP servers of a run: started or connected to for each trial, or once for all of them."""

from seatrial.servers.declared import DeclaredServer
from seatrial.servers.opening import Servers, ready
from seatrial.servers.real import RealServer

__all__ = ["DeclaredServer", "RealServer", "Servers", "ready"]
