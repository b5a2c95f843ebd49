"""Providers: who answers a `Request`.

base.py         the protocol: request, reply, settings      registry.py     names -> providers
openai.py       OpenAI and what speaks its language         anthropic.py    the Messages API
remote.py       what the two have in common                 endpoints.py    addresses and their keys
clients.py      SDK clients by event loop                   batches.py      batch APIs
bodies.py       a body -> a reply                           schemas.py      what each API takes of a schema
faults.py       a failed call -> its error                  complaints.py   what an error body says
adapt.py        parameters that a model refuses             waits.py        how long it asks to wait
prices.py       what a call cost
function.py     judges that are functions                   scripted.py     the public fake
local.py        a small model on this machine               local_engine.py   the loaded model
local_model.py  its file                                    local_machine.py  what the machine can bear
local_prompts.py  what it is asked                          local_words.py    bounded replies
"""
