"""The canonical vocabulary: frozen rows, closed enums and identities of Session, Turn, Message and Interaction.

Pure: no SQL, no trio, no provider. Names follow the outer contract (`contract §3`) in snake_case; the wire
converter turns them into camelCase, so there is one definition of each row from the database to the client.
"""
