/// `syncctl`: the door to a running `syncd`, and to a new node. What there is: `Command.all`; how it is read: `Arguments`.

System.exit(Program.run(System.arguments))
